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

/** Where kvup has to name an incident, and with which words; what is printed is compared with single blanks. */
type Row = readonly [
  /** Told before anything goes wrong, when something is stuck, or told to be no trouble at all. */
  told: 'before' | 'when stalled' | 'harmless',
  /** Of `test/examples/incidents`, without `.json`. */
  file: `${string}/${string}`,
  /** What is typed, with `--from FILE`. */
  line: string,
  /** In words that tell it apart. */
  cause: RegExp,
  /** A line to type or a thing to do, printed behind the cause; where none is known, that this is said. */
  next: RegExp,
]

/** All that happened to people, in the order of its numbers: from this list it can be read that each of them is named. */
const incidents: readonly Row[] = [
  [
    'before',
    '01-kubevirt-pr-17029/cluster',
    'check --to v1.7.1',
    /moves disks of VMs to other PCI addresses.*affects 12 running VMs here.*issue-17029/u,
    /→ kvup upgrade --to v1\.7\.4/u,
  ],
  [
    'before',
    '01-kubevirt-pr-17029/to-v1.6.3',
    'check --to v1.6.3',
    /moves disks of VMs to other PCI addresses.*affects 12 running VMs here.*issue-17029/u,
    /→ kvup upgrade --to v1\.6\.6/u,
  ],
  [
    'before',
    '02-harvester-11615/before',
    'check --to v1.8.4',
    /QEMU 10\.1 reports .*extra features: ht.*affects 3 running VMs here.*harvester-11615/u,
    /→ kvup workloads update --canary 1 --until canary.*a restart gives a VM/u,
  ],
  [
    'when stalled',
    '02-harvester-11615/cluster',
    'workloads migrations',
    /KubeVirt retries forever: .*extra features: ht/u,
    /→ virtctl restart web-1 -n demo/u,
  ],
  [
    'when stalled',
    '04-harvester-9715/cluster',
    'workloads migrations',
    /no node has the label cpu-feature\.node\.kubevirt\.io\/ipred-ctrl=true/u,
    /→ virtctl restart web-1 -n demo/u,
  ],
  [
    'when stalled',
    '04-harvester-9715/cluster',
    'check',
    /no node has the label cpu-feature\.node\.kubevirt\.io\/ipred-ctrl=true/u,
    /→ virtctl restart web-1 -n demo/u,
  ],
  [
    'before',
    '05-kubevirt-14813/cluster',
    'check',
    /no node has the label cpu-model\.node\.kubevirt\.io\/EPYC-Rome/u,
    /another CPU model/u,
  ],
  [
    'before',
    '08-docs-89105/cluster',
    'check --to v1.5.0',
    /when about 400 are pending.*612 VMs run here.*issue-14495/u,
    /→ kvup upgrade --to v1\.5\.3/u,
  ],
  [
    'before',
    '09-kubevirt-18063/cluster',
    'check',
    /PodDisruptionBudget demo\/web allows no eviction.*maxUnavailable does not work/u,
    /patch poddisruptionbudget web .*\/spec\/minAvailable/u,
  ],
  [
    'before',
    '09-kubevirt-18063/ocp',
    'check',
    /PodDisruptionBudget demo\/web allows no eviction.*maxUnavailable does not work/u,
    /patch poddisruptionbudget web .*\/spec\/minAvailable/u,
  ],
  [
    'when stalled',
    '09-kubevirt-18063/during',
    'status',
    /node worker-0 cannot be drained: VMs demo\/web-1, demo\/web-6 may not be evicted: PodDisruptionBudget web allows no disruption: .* does not implement the scale subresource/u,
    /→ kubectl -n demo describe poddisruptionbudget web .*minAvailable in place of maxUnavailable/u,
  ],
  [
    'when stalled',
    '09-kubevirt-18063/during',
    'check',
    /PodDisruptionBudget demo\/web allows no eviction.*maxUnavailable does not work/u,
    /patch poddisruptionbudget web .*\/spec\/minAvailable/u,
  ],
  [
    'before',
    '11-ocp-cnv-38746/cluster',
    'check',
    /on a network of type cnv-bridge \(demo\/br1: demo\/web-1\)/u,
    /→ oc -n demo edit network-attachment-definitions\.k8s\.cni\.cncf\.io br1 .*"type": "bridge"/u,
  ],
  [
    'when stalled',
    '11-ocp-cnv-38746/during',
    'workloads migrations',
    /no network plug-in "cnv-bridge", which NetworkAttachmentDefinition demo\/br1 asks for/u,
    /→ kubectl -n demo edit network-attachment-definitions br1 .*replace type "cnv-bridge" by "bridge"/u,
  ],
  [
    'when stalled',
    '11-ocp-cnv-38746/during',
    'check',
    /no network plug-in "cnv-bridge", which NetworkAttachmentDefinition demo\/br1 asks for/u,
    /→ kubectl -n demo edit network-attachment-definitions br1 .*replace type "cnv-bridge" by "bridge"/u,
  ],
  [
    'when stalled',
    '12-harvester-10698/cluster',
    'workloads migrations',
    /still marked to leave worker-3, which takes pods again/u,
    /→ virtctl -n demo evacuate-cancel vmi web-1/u,
  ],
  [
    'when stalled',
    '12-harvester-10698/cluster',
    'check',
    /1 VM is still marked to leave worker-3 \(demo\/web-1\), which takes pods again/u,
    /→ virtctl -n demo evacuate-cancel vmi web-1/u,
  ],
  [
    'before',
    '14-hco-4381/cluster',
    'check --to v1.9.0 --all',
    /DeclarativeHotplugVolumes on and unplugs 1 volume from running VMs \(demo\/web-1\/scratch\)/u,
    /→ kubectl -n demo edit vm web-1 .*before the upgrade/u,
  ],
  [
    'before',
    '14-hco-4381/okd',
    'check --all',
    /HyperConverged 1\.19 brings, turns DeclarativeHotplugVolumes on and unplugs 1 volume/u,
    /→ kubectl -n demo edit vm [a-z0-9-]+ .*before the upgrade/u,
  ],
  [
    'when stalled',
    '15-harvester-10447/cluster',
    'status',
    /virt-handler on worker-2 runs without virt-operator's annotations/u,
    /Next: kubectl -n kubevirt delete pod virt-handler-kbrl9/u,
  ],
  [
    'when stalled',
    '15-harvester-10447/cluster',
    'check --to v1.8.4',
    /virt-handler on worker-2 runs without virt-operator's annotations .*fixed in v1\.8\.4/u,
    /→ kubectl -n kubevirt delete pod virt-handler-kbrl9/u,
  ],
  ['when stalled', '16-kubevirt-16261/cluster', 'status', /kernel without SELinux/u, /in every release/u],
  [
    'before',
    '17-kubevirt-14318/before',
    'check --to v1.5.0 --all',
    /virt-handler of this release can panic on VMs \(cellToCell, nil pointer\).*issue-14318/u,
    /→ kvup upgrade --to v1\.5\.3/u,
  ],
  [
    'when stalled',
    '17-kubevirt-14318/cluster',
    'status',
    /panic in cellToCell/u,
    /Next: kvup upgrade --to v1\.5\.1/u,
  ],
  [
    'before',
    '18-kubevirt-15355/before',
    'check --to v1.6.0 --all',
    /VMs hang in Scheduling/u,
    /without a known fix/u,
  ],
  [
    'when stalled',
    '18-kubevirt-15355/cluster',
    'status',
    /6 of 6 VMs that should run are not running, for one reason: Scheduling/u,
    /kubevirt issue 15355 .*without a known fix/u,
  ],
  [
    'when stalled',
    '21-kbve-16357/cluster',
    'status',
    /APIServices.*x509: certificate has expired/u,
    /→ kubectl -n kubevirt delete pods -l kubevirt\.io=virt-api/u,
  ],
  [
    'when stalled',
    '21-kbve-16357/cluster',
    'check',
    /x509: certificate has expired/u,
    /→ kubectl -n kubevirt delete pods -l kubevirt\.io=virt-api/u,
  ],
  [
    'harmless',
    '22-kubevirt-16264/cluster',
    'status -o wide',
    /logs "failed to load the certificate \/etc\/virt-handler\/clientcertificates\/tls\.crt" every minute/u,
    /harmless: virt-operator detaches that certificate on purpose/u,
  ],
  [
    'when stalled',
    '23-cnao-1292/cluster',
    'status',
    /The cluster is DEGRADED: HyperConverged: 4\.18\.13: NetworkAddonsConfig is degraded.*please install Kubernetes NMState Operator/u,
    /→ kubectl get networkaddonsconfigs\.networkaddonsoperator\.network\.kubevirt\.io cluster -o yaml/u,
  ],
  [
    'before',
    '25-hpp-255/before',
    'check',
    /hostpathprovisioners\.hostpathprovisioner\.kubevirt\.io still names v1alpha1 as stored, although it writes v1beta1\. OLM fails the InstallPlan of a release that drops v1alpha1/u,
    /hostpathprovisioners\.hostpathprovisioner\.kubevirt\.io -A -o json \| kubectl replace -f -.* then set status\.storedVersions of the CRD to v1beta1/u,
  ],
  [
    'when stalled',
    '25-hpp-255/cluster',
    'status',
    /new CRD removes version v1alpha1 that is listed as a stored version/u,
    /→ kubectl get hostpathprovisioners\.hostpathprovisioner\.kubevirt\.io -A -o json \| kubectl replace -f -.* then set status\.storedVersions of the CRD to v1beta1/u,
  ],
  [
    'when stalled',
    '26-hco-2256/cluster',
    'status',
    /Job 0a1b2c3d in namespace openshift-marketplace failed \(BackoffLimitExceeded\)/u,
    /→ kubectl -n openshift-marketplace delete job\/0a1b2c3d .*untested/u,
  ],
  [
    'when stalled',
    '27-cdi-3722/cluster',
    'status',
    /The cluster is STALLED: HyperConverged: 4\.18\.13: CDI is not available.*although nothing is being updated.*cdi-operator runs/u,
    /→ kubectl get cdis\.cdi\.kubevirt\.io cdi-kubevirt-hyperconverged -o yaml.*→ kubectl -n openshift-cnv logs deployment\/cdi-operator --tail=50/u,
  ],
  [
    'before',
    '28-docs-45712/cluster',
    'check',
    /1 node can take VMs: no migration can succeed/u,
    /until a restart/u,
  ],
  [
    'before',
    '31-harvester-10677/cluster',
    'check --to v1.8.4 --all',
    /fleetagent applies KubeVirt.*kubectl-patch owns spec\.workloadUpdateStrategy\.workloadUpdateMethods/u,
    /"remove","path":"\/metadata\/managedFields\/3"/u,
  ],
  [
    'before',
    '32-harvester-8212/cluster',
    'check',
    /no node but worker-1 has the label kubernetes\.io\/hostname=worker-1/u,
    /or remove the selector/u,
  ],
  [
    'before',
    '35-k3s-14323/cluster',
    'check --to v1.9.0',
    /turns ImageVolume on by default.*containerd:\/\/2\.2\.3-k3s1, needs 2\.3\.2/u,
    /patch kubevirt kubevirt .*disabledFeatureGates","value":\["ImageVolume"\]/u,
  ],
  [
    'when stalled',
    '37-harvester-5756/cluster',
    'workloads migrations',
    /its target pod ended \(Error with code 1\).*it is stuck/u,
    /→ kubectl -n demo delete virtualmachineinstancemigration kubevirt-workload-update-web-1-94/u,
  ],
  [
    'when stalled',
    '37-harvester-5756/cluster',
    'check',
    /its target pod ended \(Error with code 1\).*it is stuck/u,
    /→ kubectl -n demo delete virtualmachineinstancemigration kubevirt-workload-update-web-1-94/u,
  ],
  [
    'before',
    '38-okd-1461/cluster',
    'check',
    /the ClusterVersion forbids the next minor \(ClusterVersionOverridesSet\).*Its overrides exclude DNS cluster/u,
    /→ oc patch clusterversion version --type=json .*"remove","path":"\/spec\/overrides"/u,
  ],
  [
    'before',
    '38-okd-1461/cluster',
    'status',
    /no next minor for now: .*cluster version overrides prevents upgrades/u,
    /remove overrides before continuing/u,
  ],
  [
    'before',
    '39-dell-csm-214/cluster',
    'check',
    /maximum supported OCP version for openshift-adp\/oadp-operator\.v1\.4\.1 is 4\.18/u,
    /→ oc -n openshift-adp get subscriptions\.operators\.coreos\.com,installplans # update oadp-operator\.v1\.4\.1 to a release/u,
  ],
  [
    'before',
    '39-dell-csm-214/cluster',
    'status',
    /no next minor for now: .*ClusterServiceVersions blocking minor version upgrades/u,
    /openshift-adp\/oadp-operator\.v1\.4\.1 is 4\.18/u,
  ],
]

const folders = readdirSync(root).filter((name) => /^\d\d-/u.test(name))
const filesOf = (folder: string): readonly string[] =>
  readdirSync(`${root}/${folder}`)
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))

/** Everything that is run of a file. */
const linesOf = (folder: string, file: string): readonly string[] => [
  'status',
  ...incidents
    .filter(([, state, line]) => state === `${folder}/${file}` && line !== 'status')
    .map(([, , line]) => line),
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
  const from = `${root}/${folder}/${file}.json`
  const { code, out, err } = await runText([...line.split(' '), '--from', from], nowhere)
  // The page of a check grows with every check: what passed is no part of an incident.
  const kept = line.startsWith('check') ? `exit ${code}\n${foundLines(out)}` : out
  return `$ kvup ${line} --from ${file}.json\n${kept}${err}`
}

/** Findings with what belongs to them; neither what passed nor the counts. */
function foundLines(page: string): string {
  return page
    .replace(/^(?:\d+|no) checks? passed[^]*?(?=^(?:\d|READY|NOT READY))/mu, '')
    .replace(/^\d+ checks? needs? [^]*?\n(?=\S)/mu, '')
    .replaceAll(/^ ✔ [^]*?(?=^\S|^ \S)/gmu, '')
}

/** A cluster of a file that is alive: its leaders renew their Leases, and a container's log is what the pod is annotated with. */
async function liveCluster(folder: string, file: string): Promise<{ cluster: Cluster; clock: SimClock }> {
  const saved = await readSaved(`${root}/${folder}/${file}.json`)
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
    .replaceAll(/ (?:--to|-o) | --/gu, '-')
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

describe('the cause is named, and behind it what helps', () => {
  test.each(incidents)('%s: %s: %s', async (...[, file, line, cause, next]) => {
    const [folder = '', state = ''] = file.split('/')
    // Lines are wrapped anywhere.
    const text = (await printedOf(folder, state, line)).replaceAll(/\s+/gu, ' ')
    expect(text).toMatch(cause)
    expect(text.slice(text.search(cause))).toMatch(next)
  })
})

const numberOf = (name: string): string => name.slice(0, 2)

test('every incident has a row, and one alone is harmless', () => {
  const rows = Map.groupBy(incidents, ([, file]) => numberOf(file))
  expect([...rows.keys()]).toEqual(folders.map(numberOf))
  expect(folders).toHaveLength(26)
  const harmless = incidents.filter(([told]) => told === 'harmless').map(([, file]) => numberOf(file))
  expect([...new Set(harmless)]).toEqual(['22'])
})

/** Of the way by HyperConverged nothing is offered that brings v1.9: what v1.9 unplugs is named there all the same once it is. */
test('14-hco-4381: HyperConverged, which offers no way there', async () => {
  const text = await printNow('14-hco-4381', 'okd', 'check --to v1.9.0')
  expect(text).toContain('\nexit 3\n')
  expect(text.replaceAll(/\s+/gu, ' ')).toMatch(/no HyperConverged is known to bring KubeVirt v1\.9\.0/u)
})

test.each([
  [
    '16-kubevirt-16261',
    /last log line: "error: Unable to query peer security context: Invalid argument".*kernel without SELinux/u,
  ],
  [
    '17-kubevirt-14318',
    /last log line: "panic: runtime error.*panic in cellToCell.*Next: kvup upgrade --to v1\.5\.1/u,
  ],
])('%s: where the log may be read it is quoted, and what it means is known', async (folder, says) => {
  const { out } = await runText(['status'], { ...(await liveCluster(folder, 'cluster')), columns })
  const text = out.replaceAll(/\s+/gu, ' ')
  expect(text).toMatch(says)
  expect(text).not.toContain('its log was not read')
})
