import type { VirtualMachineInstanceMigration } from '../../kube/kinds/kubevirt-kinds.ts'
import { itemsOf, type Known } from '../../kube/known.ts'
import { instancesOf, type Question, checksOf, type Found, type Check } from '../check-definition.ts'
import { counted, someOf } from '../../kube/text.ts'
import type { Node } from '../../kube/kinds/core-kinds.ts'
import type { Named } from '../../kubevirt/snapshot.ts'
import { evacuationRemedy } from '../../kubevirt/diagnosis/stuck-migrations.ts'

const workloadCheck = checksOf('workloads')
const installationCheck = checksOf('installation')

/** The virt-handler roll kills them (night U1, facts 2.8). An upgrade waits for them unless it is told otherwise. */
export const migrationsInFlight = workloadCheck('migrations-in-flight', {
  title: 'no migration is in flight',
  unchecked: 'migrations in flight were not looked for',
  needs: ['migrations'],
  assess({ snapshot }) {
    const names = itemsOf(snapshot.migrations).map(nameOf)
    if (names.length === 0) return undefined
    return [
      {
        level: 'warning',
        summary: `${counted(names.length, 'migration', ['is', 'are'])} not finished (${someOf(names)}): the upgrade waits for them`,
        objects: names.slice(0, 100),
        remedy: ['kubectl get virtualmachineinstancemigrations -A'],
      },
      ...stuckOnes(snapshot.stuckMigrations),
    ]
  },
})

/** So many are told each for itself. */
const toldAtMost = 5

function stuckOnes(stuck: Question['snapshot']['stuckMigrations']): readonly Found[] {
  if (!stuck.known)
    return [
      {
        level: 'warning',
        summary: `kvup did not check whether one of them hangs: ${stuck.why}`,
        remedy: ['kvup workloads migrations'],
      },
    ]
  return stuck.items.slice(0, toldAtMost).map(({ namespace, vm, migration, sentence, remedy }) => ({
    level: 'warning',
    summary: `the migration of ${namespace}/${vm} is stuck, and an upgrade waits for it: ${sentence}`,
    objects: [`virtualmachineinstancemigration/${namespace}/${migration}`],
    remedy,
  }))
}

const nameOf = ({ metadata, spec }: VirtualMachineInstanceMigration): string =>
  `${metadata.namespace}/${spec?.vmiName ?? metadata.name}`

/**
 * What evacuates them are migrations, which the virt-handler roll kills (night U1 and C4). Where the node takes pods again the mark was left behind,
 * and KubeVirt makes migrations without end (kubevirt issue 9585); without the nodes every mark counts as a drain.
 */
export const nodeDrained = workloadCheck('node-drained', {
  title: 'no VM is leaving a drained node',
  unchecked: 'VMs that leave a drained node were not looked for',
  needs: ['instances'],
  blocks: true,
  assess(question) {
    const { evacuating, evacuatingFrom } = instancesOf(question)
    const open = new Set(
      itemsOf(question.snapshot.nodes).flatMap(({ metadata, spec }) =>
        spec?.unschedulable ? [] : metadata.name,
      ),
    )
    const left = Object.entries(evacuatingFrom).filter(([node]) => open.has(node))
    const marked = new Set(left.flatMap(([, { names }]) => names))
    return [
      leavingVms({
        count: left.reduce((rest, [, { count }]) => rest - count, evacuating.count),
        names: evacuating.names.filter((name) => !marked.has(name)),
      }),
      ...left.map(([node, vms]) => leftBehind(node, vms, question.rolloutStatus.observed.version)),
    ]
  },
})

function leavingVms({ count, names }: Named): Found | undefined {
  if (count === 0) return undefined
  return {
    level: 'blocker',
    summary: `${counted(count, 'VM', ['is', 'are'])} leaving a drained node (${someOf(names, count)}): the rollout of virt-handler kills these migrations`,
    objects: names,
    remedy: [
      'kubectl get virtualmachineinstances -A -o custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,LEAVES:.status.evacuationNodeName',
    ],
  }
}

function leftBehind(node: string, { count, names }: Named, version: string | undefined): Found {
  return {
    level: 'blocker',
    summary: `${counted(count, 'VM', ['is', 'are'])} still marked to leave ${node} (${someOf(names, count)}), which takes pods again: KubeVirt migrates them forever, unless a descheduler has just evicted them`,
    objects: names,
    remedy: names.slice(0, 5).flatMap((vm) => {
      const [namespace = '', name = ''] = vm.split('/')
      return evacuationRemedy({ namespace, name, node }, version)
    }),
  }
}

/** Work on VMs' data that is under way (night C5). What KubeVirt itself works on is interrupted; CDI's imports and an export that waits for a download are only told of. */
export const dataJobsInFlight = workloadCheck('data-jobs-in-flight', {
  title: 'no snapshot, restore, clone, export, backup or import is running',
  unchecked: 'snapshots, restores, clones, exports, backups and imports were not looked for',
  needs: ['dataJobs', 'instances'],
  blocks: true,
  assess: (question) => [...jobs(question), frozen(question)],
})

type Job = { kind: string; name: string; phase: string }

function jobs({ snapshot }: Question): (Found | undefined)[] {
  const all = itemsOf(snapshot.dataJobs)
  const harmless = all.filter(goesOn)
  const own = all.filter((job) => !goesOn(job))
  return [
    own[0] && {
      level: 'blocker',
      summary: `${counted(own.length, 'job', ['is', 'are'])} not finished: ${someOf(own.map(said))}. The rollout interrupts what they wait for`,
      objects: own.map(objectOf),
      remedy: [showObject(own[0])],
    },
    harmless[0] && {
      level: 'warning',
      summary: `${counted(harmless.length, 'job', ['is', 'are'])} open: ${someOf(harmless.map(said))}. A transfer fails when virt-exportproxy is replaced, and has to be repeated`,
      objects: harmless.map(objectOf),
      remedy: [showObject(harmless[0])],
    },
  ]
}

/** CDI is not rolled; an export that is Ready may be one that nobody downloads. */
const goesOn = ({ kind, phase }: Job): boolean =>
  kind === 'DataVolume' || (kind === 'VirtualMachineExport' && phase === 'Ready')

const said = ({ kind, name, phase }: Job): string => `${kind} ${name} (${phase})`
const objectOf = ({ kind, name }: Job): string => `${kind.toLowerCase()}/${name}`

/** Names are `namespace/name` where the kind has one. */
function showObject({ kind, name }: Pick<Job, 'kind' | 'name'>): string {
  const [namespace, rest] = name.includes('/') ? name.split('/') : [undefined, name]
  return `kubectl ${namespace === undefined ? '' : `-n ${namespace} `}get ${kind.toLowerCase()} ${rest} -o yaml`
}

function frozen(question: Question): Found | undefined {
  const { count, names } = instancesOf(question).frozen
  const [namespace = '', name = ''] = (names[0] ?? '').split('/')
  if (count === 0) return undefined
  return {
    level: 'blocker',
    summary: `the file systems of ${counted(count, 'VM', ['is', 'are'])} frozen (${someOf(names, count)}): a backup has not thawed them`,
    objects: names,
    remedy: [
      `kubectl -n ${namespace} get virtualmachineinstance ${name} -o jsonpath='{.status.fsFreezeStatus}'`,
    ],
  }
}

/** What moves VMs or takes nodes away while virt-handler rolls (night C4). Mixed kubelets are `version-skew`, drains `node-drained`. */
export const othersActive = workloadCheck('others-active', {
  title: 'nobody else moves VMs or changes nodes',
  unchecked: 'others that move VMs or change nodes were not looked for',
  needs: ['nodes', 'instances', 'others'],
  assess: (question) => [cordonedWithVms(question), rolling(question), ...others(question)],
})

function cordonedWithVms(question: Question): Found | undefined {
  const { nodes: held } = instancesOf(question)
  const found = itemsOf(question.snapshot.nodes)
    .filter(({ spec, metadata }) => spec?.unschedulable && (held[metadata.name] ?? 0) > 0)
    .map(({ metadata }) => metadata.name)
  const [first] = found
  if (first === undefined) return undefined
  const vms = found.reduce((sum, name) => sum + (held[name] ?? 0), 0)
  return {
    level: 'warning',
    summary: `${counted(found.length, 'cordoned node', ['has', 'have'])} ${counted(vms, 'running VM')} (${someOf(found)}): a drain may be about to start`,
    objects: found.map((name) => `node/${name}`),
    remedy: [`kubectl describe node ${first}`, `kubectl uncordon ${first}`],
  }
}

/** Nodes that a pool of OpenShift, a cluster autoscaler or Cluster API is changing or about to delete. */
function rolling({ snapshot }: Question): Found | undefined {
  const found = itemsOf(snapshot.nodes).filter(isChanging)
  const [first] = found
  if (!first) return undefined
  const names = found.map(({ metadata }) => metadata.name)
  return {
    level: 'warning',
    summary: `${counted(found.length, 'node', ['is', 'are'])} being changed or removed by its pool: ${someOf(names)}`,
    objects: names.map((name) => `node/${name}`),
    remedy: [`kubectl describe node ${first.metadata.name}`],
  }
}

const machineConfig = 'machineconfiguration.openshift.io'
const leaving =
  /^(?:ToBeDeletedByClusterAutoscaler|DeletionCandidateOfClusterAutoscaler|karpenter\.sh\/disrupted)$/u

function isChanging({ metadata: { annotations = {} }, spec }: Node): boolean {
  const [current, desired] = ['currentConfig', 'desiredConfig'].map(
    (key) => annotations[`${machineConfig}/${key}`],
  )
  return current !== desired || (spec?.taints ?? []).some(({ key }) => leaving.test(key))
}

type Other = Question['snapshot']['others'] extends Known<infer T> ? T : never

/** What each can do to the upgrade. `upgrade`: it matters to one alone, and is said with a target only. */
const doings: Readonly<Record<Other['does'], { says: string; upgrade?: true; helps?: string }>> = {
  evicts: {
    says: 'evicts pods by itself: it may move VMs while virt-handler restarts',
    upgrade: true,
  },
  remediates: {
    says: 'is not paused: it may delete or reboot a node that is not ready for some minutes, and the VMs there go down',
    upgrade: true,
    // Not a line: what it would leave behind nobody could tell from what the owner wants.
    helps:
      'kvup eus run pauses it and resumes it by itself; for another upgrade pause it by hand, and note that it has to be resumed',
  },
  updates: { says: 'is updating: its nodes are drained and rebooted, one after another' },
  waits: { says: 'is paused: as soon as it is resumed it may drain and reboot its nodes' },
}

function others({ snapshot, target }: Question): Found[] {
  return itemsOf(snapshot.others)
    .filter(({ does }) => target !== undefined || doings[does].upgrade === undefined)
    .map((other) => {
      const { says, helps } = doings[other.does]
      return {
        level: 'warning',
        summary: `${other.kind} ${other.name} ${says}`,
        objects: [`${other.kind.toLowerCase()}/${other.name}`],
        remedy: [...(helps === undefined ? [] : [helps]), showObject(other)],
      }
    })
}

/** Judged where there is one alone: the journal and the cluster have to say so together. */
export const upgradeUnfinished = installationCheck('upgrade-unfinished', {
  title: 'no upgrade by kvup is unfinished',
  unchecked: 'unfinished upgrades were not looked for',
  needs: [],
  assess: ({ unfinished }) =>
    unfinished && {
      level: 'warning',
      summary: unfinished.sentence,
      objects: [],
      remedy: unfinished.remedy,
    },
})

/** Made only where a plan would be refused for it. */
export const evictions = workloadCheck('evictions', {
  title: 'no VM is evicted once automatic VM updates resume',
  unchecked: 'evictions of VMs were not forecast',
  needs: [],
  blocks: true,
  assess: ({ evicted }) => evicted,
})

export const activityChecks: readonly Check[] = [
  migrationsInFlight,
  nodeDrained,
  dataJobsInFlight,
  othersActive,
]
