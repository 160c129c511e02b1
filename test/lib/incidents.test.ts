import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Cluster, Reader, Ref, Where } from '../../src/lib/kube/cluster.ts'
import { Pods } from '../../src/lib/kube/kinds/workload-kinds.ts'
import type { Kind, KubeObject } from '../../src/lib/kube/object.ts'
import { readSaved } from '../../src/lib/kube/saved/saved-file.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { podsOutsideVms } from '../../src/lib/kubevirt/installed-components.ts'
import { expected } from './kubevirt/example.ts'
import { runText } from './run-text.ts'

const root = 'test/examples/incidents'
const columns = 120

/** What else than `status` names an incident: the command line that is run with `--from FILE`, by file. */
const alsoRun: Readonly<Record<string, readonly string[]>> = {
  '01-kubevirt-pr-17029/cluster': ['check --to v1.7.1'],
  '01-kubevirt-pr-17029/to-v1.6.3': ['check --to v1.6.3'],
  '02-harvester-11615/before': ['check --to v1.8.4'],
  '02-harvester-11615/cluster': ['workloads migrations'],
  '04-harvester-9715/cluster': ['workloads migrations', 'check'],
  '05-kubevirt-14813/cluster': ['check'],
  '08-docs-89105/cluster': ['check --to v1.5.0'],
  '09-kubevirt-18063/cluster': ['check'],
  '09-kubevirt-18063/during': ['check'],
  '09-kubevirt-18063/ocp': ['check'],
  '11-ocp-cnv-38746/cluster': ['check'],
  '11-ocp-cnv-38746/during': ['workloads migrations', 'check'],
  '12-harvester-10698/cluster': ['workloads migrations', 'check'],
  '14-hco-4381/cluster': ['check --to v1.9.0'],
  '14-hco-4381/okd': ['check'],
  '15-harvester-10447/cluster': ['check --to v1.8.4'],
  '17-kubevirt-14318/before': ['check --to v1.5.0'],
  '18-kubevirt-15355/before': ['check --to v1.6.0'],
  '21-kbve-16357/cluster': ['check'],
  '22-kubevirt-16264/cluster': ['status -o wide'],
  '28-docs-45712/cluster': ['check'],
  '31-harvester-10677/cluster': ['check --to v1.8.4'],
  '32-harvester-8212/cluster': ['check'],
  '35-k3s-14323/cluster': ['check --to v1.9.0'],
  '37-harvester-5756/cluster': ['workloads migrations', 'check'],
  '38-okd-1461/cluster': ['check'],
  '39-dell-csm-214/cluster': ['check'],
}

const folders = readdirSync(root).filter((name) => /^\d\d-/u.test(name))
const filesOf = (folder: string): readonly string[] =>
  readdirSync(`${root}/${folder}`)
    .filter((name) => name.endsWith('.yaml') && name !== 'layers.yaml')
    .map((name) => name.slice(0, -'.yaml'.length))

/** Everything that is run of a file. */
const linesOf = (folder: string, file: string): readonly string[] => [
  'status',
  ...(alsoRun[`${folder}/${file}`] ?? []),
]

const printed = new Map<string, Promise<string>>()

/** What a command prints of a saved incident; once for all tests. */
function printedOf(folder: string, file: string, line: string): Promise<string> {
  const key = `${folder}/${file} ${line}`
  const known = printed.get(key) ?? printNow(folder, file, line)
  printed.set(key, known)
  return known
}

const nowhere = { cluster: {} as Cluster, clock: new SimClock(), columns }

async function printNow(folder: string, file: string, line: string): Promise<string> {
  const from = `${root}/${folder}/${file}.yaml`
  const { out, err } = await runText([...line.split(' '), '--from', from], nowhere)
  // The page of a check grows with every check: what passed is no part of an incident.
  const kept = line.startsWith('check') ? foundLines(out) : out
  return `$ kvup ${line} --from ${file}.yaml\n${kept}${err}`
}

/** Findings with what belongs to them; neither what passed nor the counts. */
function foundLines(page: string): string {
  return page
    .split('\n')
    .filter((text) => !/^ ✔ |^[a-z]+$|^\d+ checks: /u.test(text))
    .join('\n')
}

/** A cluster of a file that is alive: its leaders renew their Leases, and a container's log is what the pod is annotated with. */
async function liveCluster(folder: string, file: string): Promise<{ cluster: Cluster; clock: SimClock }> {
  const saved = await readSaved(`${root}/${folder}/${file}.yaml`)
  const clock = new SimClock(saved.takenAt?.toISOString())
  const reader = new Proxy(saved.reader, {
    get(target, name) {
      if (name === 'log') return async (ref: Ref) => logOf(target, ref)
      if (name === 'list')
        return async (kind: Kind, where?: Where) => {
          const items = await target.list(kind, where)
          return kind.kind === 'Lease' ? items.map((lease) => renewed(lease, clock)) : items
        }
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  return { cluster: { ...saved, reader }, clock }
}

async function logOf(reader: Reader, ref: Ref): Promise<string> {
  const found = await reader.list(Pods, { namespace: ref.namespace, labels: podsOutsideVms })
  return found.find(({ metadata }) => metadata.name === ref.name)?.metadata.annotations?.['sim/log'] ?? ''
}

const renewed = <T extends KubeObject>(lease: T, clock: SimClock): T =>
  Object.assign(lease, {
    spec: { ...(lease as { spec?: object }).spec, renewTime: clock.now().toISOString() },
  })

const slug = (line: string): string =>
  line
    .replaceAll(/^workloads /gu, '')
    .replaceAll(/ (?:--to|-o) /gu, '-')
    .replaceAll(' ', '-')

describe('what kvup says of what happened to people', () => {
  const cases = folders.flatMap((folder) =>
    filesOf(folder).flatMap((file) => linesOf(folder, file).map((line) => [folder, file, line] as const)),
  )
  test.each(cases)('%s/%s: %s', async (folder, file, line) => {
    const text = await printedOf(folder, file, line)
    expect(text).toBe(expected(`incidents/${folder}`, `${file}.${slug(line)}.txt`, text))
  })
})

/** The cause in words that tell it apart, and a line to type or to do that helps; each in what is printed of that file, with single blanks. */
const named: readonly (readonly [file: string, cause: RegExp, helps: RegExp])[] = [
  [
    '01-kubevirt-pr-17029/cluster',
    /disks of VMs to other PCI addresses.*12 running VMs here/u,
    /→ kvup upgrade --to v1\.7\.4/u,
  ],
  [
    '01-kubevirt-pr-17029/to-v1.6.3',
    /disks of VMs to other PCI addresses.*12 running VMs here/u,
    /→ kvup upgrade --to v1\.6\.6/u,
  ],
  [
    '02-harvester-11615/before',
    /QEMU goes from 9\.1 to 10\.1 with libvirt 11\.9.*extra features: ht.*3 running VMs here/u,
    /→ kvup workloads update --canary 1 --until canary/u,
  ],
  ['02-harvester-11615/cluster', /never give up: .*extra features: ht/u, /→ virtctl restart web-1 -n demo/u],
  [
    '04-harvester-9715/cluster',
    /no node has the label cpu-feature\.node\.kubevirt\.io\/ipred-ctrl=true/u,
    /→ virtctl restart web-1 -n demo/u,
  ],
  [
    '05-kubevirt-14813/cluster',
    /no node has the label cpu-model\.node\.kubevirt\.io\/EPYC-Rome/u,
    /another CPU model/u,
  ],
  ['08-docs-89105/cluster', /migrations.*612 VMs run here/u, /→ kvup upgrade --to v1\.5\.\d/u],
  [
    '09-kubevirt-18063/cluster',
    /PodDisruptionBudget demo\/web allows no eviction.*maxUnavailable cannot be counted/u,
    /patch poddisruptionbudget web .*\/spec\/minAvailable/u,
  ],
  [
    '11-ocp-cnv-38746/during',
    /no network plug-in "cnv-bridge", which NetworkAttachmentDefinition demo\/br1 asks for/u,
    /→ kubectl -n demo edit network-attachment-definitions br1 .*type "bridge"/u,
  ],
  [
    '12-harvester-10698/cluster',
    /still marked to leave worker-3, which takes pods again/u,
    /→ virtctl -n demo evacuate-cancel vmi web-1/u,
  ],
  [
    '14-hco-4381/cluster',
    /DeclarativeHotplugVolumes on and unplugs 1 volume from running VMs/u,
    /→ kubectl -n demo edit vm [a-z0-9-]+ .*before the upgrade/u,
  ],
  [
    '14-hco-4381/okd',
    /HyperConverged 1\.19 brings, turns DeclarativeHotplugVolumes on and unplugs 1 volume/u,
    /→ kubectl -n demo edit vm [a-z0-9-]+ .*before the upgrade/u,
  ],
  [
    '15-harvester-10447/cluster',
    /virt-handler on worker-2 runs without virt-operator's annotations .*fixed in v1\.8\.4/u,
    /→ kubectl -n kubevirt delete pod virt-handler-kbrl9/u,
  ],
  ['16-kubevirt-16261/cluster', /kernel that was built without SELinux/u, /no release has a fix/u],
  [
    '17-kubevirt-14318/before',
    /virt-handler of this release can panic on VMs \(cellToCell/u,
    /→ kvup upgrade --to v1\.5\.\d/u,
  ],
  ['17-kubevirt-14318/cluster', /panic in cellToCell/u, /→ kvup upgrade --to v1\.5\.1/u],
  ['18-kubevirt-15355/before', /VMs stay in Scheduling/u, /no confirmed fix is known/u],
  [
    '18-kubevirt-15355/cluster',
    /6 of 6 VMs that should run do not, for one reason: Scheduling/u,
    /no fix is known: kubevirt issue 15355/u,
  ],
  [
    '21-kbve-16357/cluster',
    /nobody answers for APIServices.*x509: certificate has expired/u,
    /→ kubectl -n kubevirt delete pods -l kubevirt\.io=virt-api/u,
  ],
  ['28-docs-45712/cluster', /1 node can take VMs: no migration will ever succeed/u, /until a restart/u],
  [
    '31-harvester-10677/cluster',
    /fleetagent applies KubeVirt.*kubectl-patch owns spec\.workloadUpdateStrategy\.workloadUpdateMethods/u,
    /"remove","path":"\/metadata\/managedFields\/3"/u,
  ],
  [
    '32-harvester-8212/cluster',
    /no node but worker-1 has the label kubernetes\.io\/hostname=worker-1/u,
    /the selector taken out, helps/u,
  ],
  [
    '35-k3s-14323/cluster',
    /turns ImageVolume on by itself.*containerd:\/\/2\.2\.3-k3s1, needs 2\.3\.2/u,
    /"disabledFeatureGates":\["ImageVolume",/u,
  ],
  [
    '37-harvester-5756/cluster',
    /its target pod ended \(Error with code 1\).*it hangs/u,
    /→ kubectl -n demo delete virtualmachineinstancemigration kubevirt-workload-update-web-1-94/u,
  ],
]

describe('the cause is named, and what helps', () => {
  test.each(named)('%s', async (place, cause, helps) => {
    const [folder = '', file = ''] = place.split('/')
    const all = await Promise.all(linesOf(folder, file).map((line) => printedOf(folder, file, line)))
    // Lines are wrapped anywhere.
    const text = all.join(' ').replaceAll(/\s+/gu, ' ')
    expect(text).toMatch(cause)
    expect(text).toMatch(helps)
  })
})

test.each([
  [
    '16-kubevirt-16261',
    /last log line: "error: Unable to query peer security context: Invalid argument".*kernel that was built without SELinux/u,
  ],
  [
    '17-kubevirt-14318',
    /last log line: "panic: runtime error.*panic in cellToCell.*→ kvup upgrade --to v1\.5\.1/u,
  ],
])('%s: where the log may be read it is quoted, and what it means is known', async (folder, says) => {
  const { out } = await runText(['status'], { ...(await liveCluster(folder, 'cluster')), columns })
  const text = out.replaceAll(/\s+/gu, ' ')
  expect(text).toMatch(says)
  expect(text).not.toContain('its log was not read')
})
