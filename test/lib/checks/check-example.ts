import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Reported, ReportedCheck } from '../../../src/lib/checks/check-run.ts'
import { type Cluster, type Reader, readerWith } from '../../../src/lib/kube/cluster.ts'
import type { PolicyRule } from '../../../src/lib/kube/kinds/extension-kinds.ts'
import type { KubeObject } from '../../../src/lib/kube/object.ts'
import type { CheckDocument } from '../../../src/lib/output/views/check-report.ts'
import { storeCluster } from '../../../src/simulator/api/store-client.ts'
import type { MachineryFaults } from '../../../src/simulator/machinery/machinery-faults.ts'
import type { Clock } from '../../../src/lib/kube/clock.ts'
import { exampleOf, savedExample } from '../kubevirt/example.ts'
import { runText } from '../run-text.ts'
import { withKubelets } from './with-kubelets.ts'
import { type Change, laidOver, ofVersions, type Versions } from './laid-over.ts'

const folder = new URL('../../examples/checks/', import.meta.url)

/** The cluster that everything passes on, but for what is said of the hop itself. */
export const ready = { name: 'ready-for-the-next-minor', kubevirt: 'v1.8.4', kubernetes: 'v1.35.4' } as const
export const nextMinor = 'check --to v1.9.0'
/** One that nothing is found on either, with all layers that there are. */
export const layered = {
  cluster: 'openshift-with-hyperconverged',
  run: 'check',
  kubernetes: 'v1.31.10',
} as const

/** A cluster, what is changed in it, and what is asked of it. */
export interface CheckExample extends Versions {
  /** Default: `ready` with laid-over.json over it; else a folder of test/examples. */
  cluster?: string
  /** Default: `check --to v1.9.0`. */
  run?: string
  /** Default: an admin; else who has what the RBAC objects among the changes say. */
  user?: string
  /** Other checks that find something then, and why they have to. */
  also?: Readonly<Record<string, string>>
  /** What is said of the hop to v1.9 and not of this one, and why. */
  passes?: Readonly<Record<string, string>>
  /** Checks that cannot be made there, and why. */
  unseen?: Readonly<Record<string, string>>
  changes?: readonly Change[]
  /** What fires, where there is a platform; default: nothing. `unasked`: nobody answers. */
  alerts?: 'unasked' | readonly { name: string; severity: string; namespace?: string }[]
  /** What goes wrong with the pulls that `--probe-images` asks for. */
  pulls?: MachineryFaults
}

/** Reads `CHECK/failing.json`: what is asked, then the changes. */
export function checkExample(file: string): CheckExample {
  const [head, ...changes] = documents(file)
  return { ...(head as Omit<CheckExample, 'changes'>), changes: changes as Change[] }
}

/** Which check, in which case, says what, as `level id`. */
export type OtherFinding = readonly [
  check: string,
  is: string,
  said: readonly string[],
  example: CheckExample,
]

/** Beside `CHECK/failing.json`: every other finding, level and way to it. `like`: with the changes of the failing example of that check before its own. */
export function otherFindings(): readonly OtherFinding[] {
  const rows = documents('other-findings.json') as (CheckExample & {
    check: string
    is: string
    said: string[]
    like?: string
  })[]
  return rows.map(({ check, is, said, like, ...own }) => {
    const { changes = [], ...head } = like === undefined ? {} : checkExample(`${like}/failing.json`)
    return [check, is, said, { ...head, ...own, changes: [...changes, ...(own.changes ?? [])] }]
  })
}

/** Binds a ClusterRole of her own to `jane`. */
export function roleOfJane(rules: readonly PolicyRule[]): Change[] {
  const group = 'rbac.authorization.k8s.io'
  const made = { apiVersion: `${group}/v1`, metadata: { name: 'jane' } }
  return [
    { ...made, kind: 'ClusterRole', rules } as Change,
    {
      ...made,
      kind: 'ClusterRoleBinding',
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'jane' },
      subjects: [{ apiGroup: group, kind: 'User', name: 'jane' }],
    } as Change,
  ]
}

export const hasExample = (file: string): boolean => existsSync(new URL(file, folder))

/** Names of the folders of test/examples/checks: ids of checks. */
export function exampleFolders(): string[] {
  const entries = readdirSync(folder, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}

/** What `CHECK/expected.json` says was found in `CHECK/failing.json`. */
export function expectedItems(check: string): readonly ReportedCheck[] {
  const text = readFileSync(new URL(`${check}/expected.json`, folder), 'utf8')
  return (JSON.parse(text) as Pick<Reported, 'items'>).items
}

/** `x{250000}` stands for so many of them: nobody reads what is only large. */
function long(value: unknown): unknown {
  if (typeof value !== 'string') return value
  return value.replace(/^x\{(\d+)\}$/u, (_all, count: string) => 'x'.repeat(Number(count)))
}

function documents(file: string): unknown[] {
  return JSON.parse(readFileSync(new URL(file, folder), 'utf8'), (_, value) => long(value)) as unknown[]
}

const cached = new Map<string, { objects: KubeObject[]; at: string }>()

/** A cluster in memory that answers as an API server does, and the time at which it is looked at. */
export function clusterOf(example: CheckExample): { cluster: Cluster; clock: Clock } {
  const name = example.cluster ?? ready.name
  const saved = cached.get(name) ?? savedExample(name)
  cached.set(name, saved)
  const base =
    name === ready.name ? laidOver(saved.objects, documents('laid-over.json') as Change[]) : saved.objects
  const objects = laidOver(ofVersions(base, ready, example), example.changes ?? [])
  const { store, clock } = exampleOf(objects, saved.at, serverVersion(example.kubernetes))
  return {
    cluster: withAlerts(
      storeCluster(store, example.user === undefined ? {} : { user: example.user }),
      example.alerts ?? [],
    ),
    clock: isProbing(example) ? withKubelets(store, saved.at, example.pulls) : clock,
  }
}

/** As Prometheus would answer for a platform. */
function withAlerts(cluster: Cluster, alerts: NonNullable<CheckExample['alerts']>): Cluster {
  if (alerts === 'unasked') {
    const asked = Object.entries(readerWith(cluster.reader, {})).filter(([name]) => name !== 'askService')
    return { ...cluster, reader: Object.fromEntries(asked) as unknown as Reader }
  }
  const firing = alerts.map(({ name, severity, namespace }) => ({
    state: 'firing',
    labels: { alertname: name, severity, ...(namespace !== undefined && { namespace }) },
  }))
  const text = JSON.stringify({ status: 'success', data: { alerts: firing } })
  return { ...cluster, reader: readerWith(cluster.reader, { askService: async () => text }) }
}

/** Whether it makes pods: a saved cluster cannot be asked that. */
export const isProbing = (example: CheckExample): boolean => wordsOf(example).includes('--probe-images')

function serverVersion(gitVersion: string = ready.kubernetes) {
  const [major = '', minor = ''] = gitVersion.replace(/^v/u, '').split('.')
  return { gitVersion, major, minor }
}

export interface Judged {
  code: number
  document: CheckDocument
}

/** Runs the command line of the example; the files that it names lie beside the examples. */
export async function judgedExample(example: CheckExample): Promise<Judged> {
  const ran = await runText([...wordsOf(example), '-o', 'json'], { ...clusterOf(example), files })
  if (ran.out === '') throw new Error(ran.err)
  return { code: ran.code, document: JSON.parse(ran.out) as CheckDocument }
}

export const wordsOf = ({ run = nextMinor }: CheckExample): string[] => run.split(' ')

/** Looked up when a command asks for one. */
export const files: Readonly<Record<string, string>> = new Proxy<Record<string, string>>(
  {},
  {
    get: (_, file) =>
      hasExample(String(file)) ? readFileSync(new URL(String(file), folder), 'utf8') : undefined,
  },
)

/** What became of one check. */
export function itemOf({ items }: Reported, id: string): ReportedCheck {
  const found = items.find((item) => item.id === id)
  if (found === undefined) throw new Error(`there is no check ${id}`)
  return found
}
