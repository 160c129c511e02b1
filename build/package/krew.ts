import { stringify } from 'yaml'

/** An archive as krew is told of it: for whom, where from, with which digest. */
export interface KrewArchive {
  os: string
  arch: string
  uri: string
  sha256: string
  program: string
}

/** The manifest by which `kubectl krew install` finds and checks the archives. */
export function krewManifest(version: string, archives: readonly KrewArchive[]): string {
  return stringify({
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'kvup' },
    spec: {
      version: `v${version}`,
      shortDescription: 'Upgrade KubeVirt: check, plan, run, watch and resume',
      description: [
        'Upgrades KubeVirt on a live cluster: plain, under HyperConverged and OLM, or together with OpenShift.',
        'It checks the cluster, says what it is about to do, asks, and ends only when every component runs the new version.',
        'It can be stopped at any moment; the same command continues, from any machine.\n',
      ].join('\n'),
      caveats: [
        'The executables are not signed by anybody; krew compares their archive with its sha256.\n',
      ].join('\n'),
      platforms: archives.map(({ os, arch, uri, sha256, program }) => ({
        selector: { matchLabels: { os, arch } },
        uri,
        sha256,
        bin: program,
      })),
    },
  })
}
