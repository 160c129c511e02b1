import { expect, test } from 'vitest'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { expected } from './kubevirt/example.ts'
import { runText } from './run-text.ts'

/** An incident that somebody reported, told beforehand: the saved cluster, where it was going, and the sentence and the line that help. */
interface Incident {
  file: string
  to: string
  cause: RegExp
  helps: RegExp
}

const incidents: readonly (readonly [folder: string, incident: Incident])[] = [
  [
    '01-kubevirt-pr-17029',
    {
      file: 'cluster',
      to: 'v1.7.1',
      cause: /moves disks of VMs to other PCI addresses .* concerns 12 running VMs .*issue-17029/u,
      helps: /kvup upgrade --to v1\.7\.4/u,
    },
  ],
  [
    '01-kubevirt-pr-17029',
    {
      file: 'to-v1.6.3',
      to: 'v1.6.3',
      cause: /moves disks of VMs to other PCI addresses .* concerns 12 running VMs .*issue-17029/u,
      helps: /kvup upgrade --to v1\.6\.6/u,
    },
  ],
  [
    '02-harvester-11615',
    {
      file: 'before',
      to: 'v1.8.4',
      cause: /QEMU goes from 9\.1 to 10\.1 .*extra features: ht.* concerns \d+ running VMs .*issue-16386/u,
      helps: /virtctl restart VM/u,
    },
  ],
  [
    '05-kubevirt-14813',
    {
      file: 'cluster',
      to: 'v1.4.1',
      cause: /no node has the label cpu-model\.node\.kubevirt\.io\/EPYC-Rome/u,
      helps: /another CPU model/u,
    },
  ],
  [
    '08-docs-89105',
    {
      file: 'cluster',
      to: 'v1.5.0',
      cause: /with about 400 pending migrations .*612 VMs run here.*issue-14495/u,
      helps: /kvup upgrade --to v1\.5\.3/u,
    },
  ],
  [
    '14-hco-4381',
    {
      file: 'cluster',
      to: 'v1.9.0',
      cause: /DeclarativeHotplugVolumes on and unplugs 1 volume from running VMs \(demo\/web-1\/scratch\)/u,
      helps: /kubectl -n demo edit vm web-1/u,
    },
  ],
  [
    '17-kubevirt-14318',
    {
      file: 'before',
      to: 'v1.5.0',
      cause: /panic on VMs \(cellToCell, nil pointer\).*v1\.5\.3 has the fix \(issue-14318\)/u,
      helps: /kvup upgrade --to v1\.5\.3/u,
    },
  ],
  [
    '35-k3s-14323',
    {
      file: 'cluster',
      to: 'v1.9.0',
      cause: /turns ImageVolume on .*containerd:\/\/2\.2\.3-k3s1, needs 2\.3\.2/u,
      helps: /patch kubevirt kubevirt .*"ImageVolume"/u,
    },
  ],
]

const nowhere = { cluster: {} as Cluster, clock: new SimClock() }

test.each(incidents)('%s is named before the upgrade: %j', async (folder, { file, to, cause, helps }) => {
  const from = `test/examples/incidents/${folder}/${file}.yaml`
  const { code, out, err } = await runText(['check', '--to', to, '--from', from], nowhere)
  expect(err).toBe('')
  const found = foundLines(out)
  expect(found.find((line) => cause.test(line))).toBeDefined()
  expect(found.find((line) => /^ +-> /u.test(line) && helps.test(line))).toBeDefined()
  const text = [`$ kvup check --to ${to} --from ${file}.yaml`, `exit ${code}`, ...found].join('\n')
  expect(text).toBe(expected(`incidents/${folder}`, `${file}.releases.txt`, text))
})

/** Findings with what belongs to them: neither what passed nor the counts, which grow with every check. */
const foundLines = (page: string): readonly string[] =>
  page.split('\n').filter((line) => !/^ \+ |^[a-z]+$|^\d+ checks: /u.test(line))

/** Of the way by HyperConverged nothing is offered that brings v1.9: what v1.9 unplugs is named there all the same once it is. */
test('14-hco-4381: HyperConverged, which offers no way there', async () => {
  const from = 'test/examples/incidents/14-hco-4381/okd.yaml'
  const { code, out } = await runText(['check', '--to', 'v1.9.0', '--from', from], nowhere)
  expect(code).toBe(3)
  expect(out).toMatch(/no HyperConverged is known to bring KubeVirt v1\.9\.0/u)
})
