package debian

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"math/bits"
	"testing"
)

// A signer signs test archives as gpg would, with its own Ed25519 key: as much of OpenPGP
// (RFC 4880 and RFC 9580, version 4) as apt requires.
type signer struct {
	private ed25519.PrivateKey
	key     []byte // the body of the public key packet
}

const signedAt = 1_700_000_000 // seconds; any time in the past

func newSigner(t *testing.T) *signer {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	key := binary.BigEndian.AppendUint32([]byte{4}, signedAt)
	key = append(key, 22, 9, 0x2b, 0x06, 0x01, 0x04, 0x01, 0xda, 0x47, 0x0f, 0x01)
	key = append(key, mpi(append([]byte{0x40}, public...))...)
	return &signer{private, key}
}

// keyring returns what debian-archive-keyring.gpg is for Debian's keys.
func (s *signer) keyring() []byte {
	const user = "test archive"
	data := s.framedKey()
	data = append(data, 0xb4)
	data = binary.BigEndian.AppendUint32(data, uint32(len(user)))
	data = append(data, user...)
	self := s.signature(0x13, data, []byte{2, 27, 0x03})
	return append(append(packet(6, s.key), packet(13, []byte(user))...), packet(2, self)...)
}

// detached returns what Release.gpg is for the text of Release.
func (s *signer) detached(text []byte) []byte {
	raw := packet(2, s.signature(0x00, text, nil))
	var out bytes.Buffer
	out.WriteString("-----BEGIN PGP SIGNATURE-----\n\n")
	for line := base64.StdEncoding.EncodeToString(raw); line != ""; {
		n := min(64, len(line))
		out.WriteString(line[:n] + "\n")
		line = line[n:]
	}
	crc := uint32(0xb704ce)
	for _, b := range raw {
		crc ^= uint32(b) << 16
		for range 8 {
			crc <<= 1
			if crc&0x1000000 != 0 {
				crc ^= 0x1864cfb
			}
		}
	}
	sum := []byte{byte(crc >> 16), byte(crc >> 8), byte(crc)}
	out.WriteString("=" + base64.StdEncoding.EncodeToString(sum) + "\n-----END PGP SIGNATURE-----\n")
	return out.Bytes()
}

// framedKey returns the key in the form used for fingerprints and certifications.
func (s *signer) framedKey() []byte {
	return append(binary.BigEndian.AppendUint16([]byte{0x99}, uint16(len(s.key))), s.key...)
}

func (s *signer) signature(kind byte, data, subpackets []byte) []byte {
	fingerprint := sha1.Sum(s.framedKey())
	hashed := binary.BigEndian.AppendUint32([]byte{5, 2}, signedAt)
	hashed = append(append(hashed, 22, 33, 4), fingerprint[:]...)
	hashed = append(hashed, subpackets...)
	head := binary.BigEndian.AppendUint16([]byte{4, kind, 22, 8}, uint16(len(hashed)))
	head = append(head, hashed...)

	text := append(bytes.Clone(data), head...)
	text = binary.BigEndian.AppendUint32(append(text, 4, 0xff), uint32(len(head)))
	digest := sha256.Sum256(text)
	signed := ed25519.Sign(s.private, digest[:])

	body := append(head, 0, 10, 9, 16)
	body = append(append(body, fingerprint[12:]...), digest[:2]...)
	body = append(body, mpi(signed[:32])...)
	return append(body, mpi(signed[32:])...)
}

// mpi encodes a big-endian number with its length in bits.
func mpi(n []byte) []byte {
	n = bytes.TrimLeft(n, "\x00")
	return append(binary.BigEndian.AppendUint16(nil, uint16(8*(len(n)-1)+bits.Len8(n[0]))), n...)
}

func packet(tag byte, body []byte) []byte {
	head := []byte{0xc0 | tag, 0xff}
	return append(binary.BigEndian.AppendUint32(head, uint32(len(body))), body...)
}
