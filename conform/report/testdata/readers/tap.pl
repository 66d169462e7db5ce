# Reads TAP on standard input with Perl's own parser, its subtests too, and
# prints a line for each test: depth, number, outcome, directive, description,
# and the reason in its YAML. What the parser complains of is printed as well.
use strict;
use warnings;
use TAP::Parser;

sub show {
    my ( $depth, $tap ) = @_;
    # Parsers before 3.48 know version 13, of which 14 differs in subtests alone.
    $tap =~ s/^TAP version 14/TAP version 13/ if TAP::Parser->VERSION < 3.48;
    my $parser = TAP::Parser->new( { tap => $tap } );
    my $last;
    my $line = sub { print "$last\n" if defined $last; undef $last };
    while ( my $r = $parser->next ) {
        if ( $r->is_test ) {
            $line->();
            $last = join '|', $depth, $r->number, ( $r->is_actual_ok ? 'ok' : 'not ok' ), $r->directive, $r->description;
        }
        # A parser that does not know subtests takes their YAML for the whole file's.
        elsif ( $r->is_yaml && $depth ) { $last .= '|' . ( $r->data->{reason} // '' ) . '|' . ( $r->data->{actual} // '' ) =~ s/\n/<newline>/gr }
        elsif ( $r->is_bailout ) { $line->(); print "bail out: ", $r->explanation, "\n" }
    }
    $line->();
    print "parse error: $_\n" for $parser->parse_errors;
}

my $all = join '', <STDIN>;
show( 0, $all );
my ( $sub, %subtests );
for ( split /^/, $all ) {
    if (/^# Subtest: /) { $sub = '' }
    elsif ( defined $sub && s/^    // ) { $sub .= $_ }
    elsif ( defined $sub ) { show( 1, "TAP version 13\n$sub" ); undef $sub }
}
