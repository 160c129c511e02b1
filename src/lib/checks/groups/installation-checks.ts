import type { Doubt, RolloutStatus } from '../../kubevirt/rollout-status.ts'
import { instancesOf, isPausedByKvup, type Question, checksOf, type Found } from '../check-definition.ts'
import { minutes } from '../../kube/clock.ts'
import { since } from '../../kube/timestamps.ts'
import { itemsOf } from '../../kube/known.ts'
import type { KubeObject } from '../../kube/object.ts'
import {
  identifierOf,
  podsOf,
  type UpgradeSnapshot,
  stampedVersion,
  unlistedWorkloads,
  workloads,
} from '../../kubevirt/installed-components.ts'
import { compareVersions, parseVersion, type Version } from '../../releases/release-versions.ts'
import { counted, someOf } from '../../kube/text.ts'
import type { Installation, Manager } from '../../kubevirt/installation.ts'

const installationCheck = checksOf('installation')

/** Two changes at a time leave three versions side by side. */
export const settledNow = installationCheck('healthy-now', {
  title: 'KubeVirt is healthy now',
  unchecked: 'the health of KubeVirt was not checked',
  findings: ['healthy-now', 'vms-not-running'],
  runbook: 'VirtOperatorDown',
  needs: ['deployments', 'daemonsets', 'pods', 'leases'],
  blocks: true,
  assess(question) {
    const { rolloutStatus, target, installation } = question
    if (rolloutStatus.verdict === 'Healthy')
      return [...rolloutStatus.doubts.map(doubted), vmsNotRunning(question)]
    // Without a target, or where the present one is not known, there is none to be the same.
    const joined =
      target !== undefined &&
      rolloutStatus.verdict === 'Updating' &&
      rolloutStatus.target.version === target.text
    const isMended = target !== undefined && mends(target, rolloutStatus)
    return [
      {
        level: joined ? 'info' : isMended ? 'warning' : 'blocker',
        summary: joined
          ? `an update to ${target.text} is running already: kvup joins it`
          : `KubeVirt is ${rolloutStatus.verdict}: ${reason(rolloutStatus)}`,
        objects: [`kubevirt/${installation.name}`],
        // A check that leads to itself leads nowhere.
        remedy: [
          ...rolloutStatus.why.flatMap(({ commands }) =>
            commands.filter((line) => !line.startsWith('kvup check ')).slice(0, 1),
          ),
          'kvup status -w',
        ],
      },
    ]
  },
})

/** A VMI starts in a minute or two; one that waits longer than this does not start by itself, ms. */
const startingAtMost = 10 * minutes

/** What `kvup status` calls degraded is not passed over here. A warning: the target may have what mends it. */
function vmsNotRunning(question: Question): Found | undefined {
  const { waiting, running } = instancesOf(question)
  const late = [...waiting].filter(([, created]) => (since(created, question.at) ?? 0) >= startingAtMost)
  if (late.length === 0) return undefined
  const names = late.map(([name]) => name)
  const rest = running === 0 ? ', and no other VM runs' : ''
  return {
    id: 'vms-not-running',
    level: 'warning',
    summary: `${counted(late.length, 'VM', ['was', 'were'])} started more than 10 min ago and ${late.length === 1 ? 'does' : 'do'} not run (${someOf(names)})${rest}`,
    objects: names.map((name) => `virtualmachineinstance/${name}`),
    remedy: ['kvup status     shows why'],
  }
}

/** The release in which a pod without annotations keeps nobody waiting any more (kubevirt PR 17901). */
const stampsMended = parseVersion('v1.8.4')

/** Whether the target has the fix for all that keeps KubeVirt from being healthy: the upgrade itself is the way out then. */
const mends = (target: Version, { why }: RolloutStatus): boolean =>
  why.length > 0 &&
  why.every(({ kind }) => kind === 'unstamped') &&
  compareVersions(target, stampsMended) >= 0

/** That a further roll of virt-handler may come is how these releases are, and nothing to be mended. */
const doubted = ({ id, sentence, commands }: Doubt): Found => ({
  level: id === 'handler-roll-to-come' ? 'info' : 'warning',
  summary: `KubeVirt reports that it is done, but: ${sentence}`,
  remedy: [...commands],
})

function reason({ why, waitingFor }: RolloutStatus): string {
  const said = why.map(({ sentence }) => sentence).join('; ')
  return said || `waiting for ${waitingFor ?? 'virt-operator'}`
}

/** The operator follows one, and a webhook refuses the second (facts 1.7); one that is older than the webhook stays. */
export const oneKubeVirt = installationCheck('one-kubevirt', {
  title: 'there is one KubeVirt resource',
  unchecked: 'KubeVirt resources were not counted',
  needs: ['kubevirts'],
  blocks: true,
  assess({ snapshot, installation }) {
    // One from a file may have no uid.
    const others = itemsOf(snapshot.kubevirts).filter(
      ({ metadata: { namespace, name } }) =>
        namespace !== installation.namespace || name !== installation.name,
    )
    if (others.length === 0) return undefined
    const names = others.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
    return {
      level: 'blocker',
      summary: `virt-operator manages ${installation.namespace}/${installation.name} and ignores ${names.join(', ')}`,
      objects: names.map((name) => `kubevirt/${name}`),
      remedy: [
        `delete ${names.join(', ')} by hand, and only ${names.length === 1 ? 'it' : 'these'}: virt-operator ignores ${names.length === 1 ? 'it' : 'them'}. Deleting ${installation.namespace}/${installation.name} removes KubeVirt, and VMs go down. Save both to a file first`,
      ],
    }
  },
})

/** A half-done update, or what an older one has left (facts 2.6 and 8: #18057, night C7). */
export const mixedIdentifiers = installationCheck('mixed-identifiers', {
  title: 'every component has the same revision',
  unchecked: 'the revisions of the components were not compared',
  needs: ['kubevirts', 'deployments', 'daemonsets', 'pods'],
  blocks: true,
  assess(question) {
    const { rolloutStatus, target, installation } = question
    const others = stamped(question).filter((object) => identifierOf(object) !== rolloutStatus.target.id)
    if (others.length === 0) return undefined
    const joined = target !== undefined && rolloutStatus.target.version === target.text
    const versions = [...new Set(others.map((object) => stampedVersion(object) ?? 'an unknown version'))]
    return {
      level: joined ? 'info' : 'blocker',
      summary: `${counted(others.length, 'object', ['is', 'are'])} still at ${versions.join(', ')} instead of ${rolloutStatus.target.version ?? 'the target'}: an update is incomplete`,
      objects: others.map(({ kind, metadata }) => `${kind.toLowerCase()}/${metadata.name}`),
      remedy: [
        'kvup status',
        `kubectl -n ${installation.namespace} get deploy,ds,pods -l app.kubernetes.io/managed-by=virt-operator --show-labels`,
      ],
    }
  },
})

/** What virt-operator stamped, and the pods that it owns: ended ones do not count, a virt-operator that only manages is not of a revision, and a pod with copied stamps is nobody's. */
function stamped({ snapshot, installation, at }: Question): readonly KubeObject[] {
  const { kubevirt, deployment: operator } = installation
  const observed: UpgradeSnapshot = { snapshot, kubevirt, operator, at }
  const own = [...workloads(observed), ...unlistedWorkloads(observed)]
  const pods = own.flatMap((workload) => podsOf(observed, workload))
  return [...own.map(({ object }) => object), ...pods].filter((object) => identifierOf(object) !== undefined)
}

/** What somebody else owns is set back by them (facts 1.2, night U8). */
export const managerCheck = installationCheck('manager', {
  title: 'no other tool reverts what kvup writes',
  unchecked: 'the owner of KubeVirt was not checked',
  findings: ['managed-by-hyperconverged', 'managed-by-olm', 'managed-by-helm', 'managed-by-gitops'],
  needs: ['kubevirts', 'operators'],
  needsTarget: true,
  blocks: true,
  assess({ installation, target }) {
    const { kind } = installation.manager
    if (kind === 'plain') return undefined
    const words = said[kind]
    return {
      id: `managed-by-${kind}`,
      level: 'blocker',
      summary: words.summary(ownerOf(installation)),
      objects: [`kubevirt/${installation.name}`],
      remedy: words.remedy(target?.text ?? 'VERSION'),
    }
  },
})

interface Words {
  summary: (owner: string) => string
  remedy: (to: string) => readonly string[]
}

const reset: Words = {
  summary: (owner) => `KubeVirt belongs to ${owner}: its next sync reverts what kvup writes`,
  remedy: (to) => [`kvup upgrade --to ${to} --follow`],
}

const said: Record<Exclude<Manager['kind'], 'plain'>, Words> = {
  hyperconverged: {
    summary: (owner) => `${owner} decides which KubeVirt is installed, and reverts changes to it`,
    remedy: () => ['upgrade HyperConverged instead, without --method: its release brings KubeVirt'],
  },
  olm: {
    summary: (owner) => `OLM (${owner}) reverts changes to virt-operator`,
    remedy: () => [
      'kubectl get installplans -A',
      'approve the one of its Subscription',
      'kvup status -w     follows it',
    ],
  },
  helm: reset,
  gitops: reset,
}

function ownerOf({ manager: { owner, name, kind } }: Installation): string {
  return [owner ?? kind, name].filter(Boolean).join(' ')
}

/** Empty methods that nobody of ours has borrowed stay empty, and no VM follows (night C7). */
export const methodsEmpty = installationCheck('methods-empty-without-override', {
  title: 'automatic VM updates are on, or paused by kvup',
  unchecked: 'automatic VM updates were not checked',
  runbook: 'OutdatedVirtualMachineInstanceWorkloads',
  needs: ['kubevirts', 'overrides'],
  assess({ snapshot, installation: { workloadUpdateMethods, name } }) {
    if (workloadUpdateMethods.length > 0 || isPausedByKvup(snapshot)) return undefined
    return {
      level: 'warning',
      summary: 'automatic VM updates are off (not by kvup): VMs remain on the old virt-launcher',
      objects: [`kubevirt/${name}`],
      remedy: ['kvup workloads strategy set --methods LiveMigrate'],
    }
  },
})

/** The API server's limit for all annotations of an object together (facts 7). */
const limit = 262_144
const near = 0.95

/** `kubectl apply` keeps a copy of the KubeVirt CRD in an annotation, which has little room left (facts 7). */
export const lastAppliedSize = installationCheck('last-applied-size', {
  title: 'the annotations of kubectl apply leave room',
  unchecked: 'the size of annotations was not checked',
  needs: ['crds', 'kubevirts', 'operators'],
  assess: ({ snapshot: { crds, kubevirts, operators } }) =>
    [...itemsOf(crds), ...itemsOf(kubevirts), ...itemsOf(operators)].map(judged),
})

function judged({ kind, metadata: { name, namespace, annotations = {} } }: KubeObject): Found | undefined {
  const size = sizeOf(annotations)
  if (size < limit * near) return undefined
  const object = `${kind.toLowerCase()}/${name}`
  return {
    level: 'warning',
    summary: `the annotations of ${object} take ${size} of ${limit} bytes: the next kubectl apply may be refused (kvup uses server-side apply, which adds none)`,
    objects: [object],
    remedy: [
      `kubectl ${namespace === undefined ? '' : `-n ${namespace} `}annotate ${object} kubectl.kubernetes.io/last-applied-configuration-`,
    ],
  }
}

/** In UTF-8, names included, as the API server counts. */
function sizeOf(annotations: Readonly<Record<string, string>>): number {
  const encoder = new TextEncoder()
  return Object.entries(annotations).reduce((sum, pair) => sum + encoder.encode(pair.join('')).length, 0)
}

/** The Containerized Data Importer has releases of its own (night C7). */
export const cdiAlongside = installationCheck('cdi-beside', {
  title: 'no CDI has to be upgraded separately',
  unchecked: 'CDI was not looked for',
  needs: ['crds'],
  needsTarget: true,
  assess({ snapshot, installation }) {
    const cdi = itemsOf(snapshot.crds).filter(({ spec }) => spec?.group === 'cdi.kubevirt.io')
    if (cdi.length === 0 || installation.manager.kind === 'hyperconverged') return undefined
    return {
      level: 'info',
      summary: 'CDI is installed too; kvup does not upgrade it',
      objects: ['customresourcedefinition/datavolumes.cdi.kubevirt.io'],
      remedy: ["kubectl get cdi -o jsonpath='{.items[*].status.observedVersion}'"],
    }
  },
})
