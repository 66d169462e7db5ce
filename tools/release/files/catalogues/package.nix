# tmux is not among the dependencies: tmux-mcp takes the one on PATH, which must be of the same
# version as the tmux server that it talks to.
{
  lib,
  stdenvNoCC,
  fetchurl,
}:

let
  version = "{{.Number}}";
  archives = {
{{- range .Archives}}
    {{.Nix}} = {
      name = "{{.Name}}";
      hash = "{{.SRI}}";
    };
{{- end}}
  };
  system = stdenvNoCC.hostPlatform.system;
  archive = archives.${system} or (throw "tmuxmcp ${version} is not published for ${system}");
in
stdenvNoCC.mkDerivation {
  pname = "tmuxmcp";
  inherit version;

  src = fetchurl {
    url = "{{.Downloads}}/${archive.name}";
    inherit (archive) hash;
  };

  dontConfigure = true;
  dontBuild = true;
  dontStrip = true;

  installPhase = ''
    runHook preInstall
    mkdir -p $out
    cp -r bin share $out
    runHook postInstall
  '';

  doInstallCheck = true;
  installCheckPhase = ''
    runHook preInstallCheck
    $out/bin/tmux-mcp --version | grep -F ${version}
    runHook postInstallCheck
  '';

  meta = {
    description = "{{.Summary}}";
    homepage = "{{.Homepage}}";
    license = lib.licenses.mit;
    sourceProvenance = [ lib.sourceTypes.binaryNativeCode ];
    mainProgram = "tmux-mcp";
    platforms = builtins.attrNames archives;
  };
}
