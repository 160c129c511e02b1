import type { Node } from '../../../src/lib/kube/kinds/core-kinds.ts'
import type { CustomResourceDefinition } from '../../../src/lib/kube/kinds/extension-kinds.ts'
import type { Check, Finding, Question } from '../../../src/lib/checks/check-definition.ts'
import { type CheckResult, runChecks } from '../../../src/lib/checks/check-run.ts'
import type { FullSnapshot } from '../../../src/lib/kubevirt/full-snapshot.ts'
import { emptyTally, nobody } from '../../../src/lib/kubevirt/snapshot.ts'
import { theInstallation } from '../../../src/lib/kubevirt/installation.ts'
import type { Known } from '../../../src/lib/kube/known.ts'
import { assessRollout } from '../../../src/lib/kubevirt/rollout-status.ts'
import { knownReleases } from '../../../src/lib/releases/releases.ts'
import { parseVersion } from '../../../src/lib/releases/release-versions.ts'
import { settled } from '../kubevirt/settled.ts'

export const known = <T>(...items: T[]): Known<T> => ({ known: true, items })
export const unread: Known<never> = { known: false, why: 'nodes is forbidden' }

/** A healthy v1.8.4 on Kubernetes 1.35, every part of it known; the objects of a real one. */
export function evidence(overrides: Partial<FullSnapshot> = {}): FullSnapshot {
  const { snapshot } = settled()
  return {
    ...snapshot,
    serverVersion: { gitVersion: 'v1.35.4', major: '1', minor: '35' },
    replicaSets: known(),
    nodes: known(...['node-1', 'node-2', 'node-3'].map(node)),
    events: known(),
    migrations: known(),
    workloads: known({ instances: 0, outdated: 0 }),
    crds: known(crd('virtualmachines', 'kubevirt.io', ['v1']), crd('kubevirts', 'kubevirt.io', ['v1'])),
    apiServices: known(),
    webhooks: known(),
    endpoints: known(),
    instances: known(emptyTally()),
    vms: known({ total: 0, restartRequired: nobody(), hotplugged: new Set() }),
    quotas: known(),
    dataJobs: known(),
    others: known(),
    budgets: known(),
    stuckMigrations: known(),
    operatorRoles: known(),
    editBindings: known(),
    networkDevices: known(),
    rights: known(),
    clusterUid: known('8a1d8d6e-3f0f-4d44-9b0e-0c6f6e3c7a10'),
    overrides: known(),
    ...overrides,
  }
}

/** As `kvup check --to v1.9.0` would ask it; everything is judged 30 s after it was read. */
export function question({ target, snapshot: found = evidence(), ...more }: Partial<Asked> = {}): Question {
  const at = new Date(Date.parse(found.takenAt) + 30_000)
  return {
    snapshot: found,
    installation: more.installation ?? theInstallation(found),
    rolloutStatus: more.rolloutStatus ?? assessRollout(found, at),
    method: 'operator-manifest',
    releases: knownReleases,
    at,
    ...(target !== undefined && { target: parseVersion(target) }),
    ...more,
  }
}

type Asked = Omit<Question, 'target'> & { target: string }

/** What one check says. */
export function ask(check: Check, asked: Partial<Asked> = {}): CheckResult {
  const [result] = runChecks([check], question(asked))
  if (result === undefined) throw new Error('no result')
  const declared = new Set([check.id, ...(check.findings === 'any' ? [] : (check.findings ?? []))])
  const stray = result.findings.filter(({ id }) => check.findings !== 'any' && !declared.has(id))
  if (stray.length > 0)
    throw new Error(`${check.id} does not declare ${stray.map(({ id }) => id).join(', ')}`)
  return result
}

/** Its findings as `level id`. */
export const said = (findings: readonly Finding[]): string[] =>
  findings.map(({ level, id }) => `${level} ${id}`)

/** The one KubeVirt with other fields in its spec. */
export function withSpec(spec: object, found: FullSnapshot = evidence()): FullSnapshot {
  const [kubevirt] = found.kubevirts.known ? found.kubevirts.items : []
  if (kubevirt === undefined) throw new Error('no KubeVirt')
  return { ...found, kubevirts: known({ ...kubevirt, spec: { ...kubevirt.spec, ...spec } }) }
}

/** The same installation, of another version by every sign of it. */
export function ofVersion(version: string, found: FullSnapshot = evidence()): FullSnapshot {
  const text = JSON.stringify(found).replaceAll('v1.8.4', version)
  return JSON.parse(text) as FullSnapshot
}

/** The first version is the stored one. */
export function crd(
  plural: string,
  group: string,
  versions: readonly string[],
  storedVersions: readonly string[] = versions.slice(0, 1),
): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, labels: { 'app.kubernetes.io/managed-by': 'virt-operator' } },
    spec: {
      group,
      names: { plural },
      scope: 'Namespaced',
      versions: versions.map((name, index) => ({ name, served: true, storage: index === 0 })),
    },
    status: { storedVersions: [...storedVersions] },
  }
}

export function node(name: string): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/os': 'linux', 'kubevirt.io/schedulable': 'true' } },
    status: {
      conditions: [{ type: 'Ready', status: 'True' }],
      nodeInfo: { kubeletVersion: 'v1.35.4', containerRuntimeVersion: 'containerd://2.3.2' },
    },
  }
}
