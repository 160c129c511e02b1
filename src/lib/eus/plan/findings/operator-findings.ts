import type { Finding } from '../../../checks/check-definition.ts'
import { assessHyperConverged } from '../../../openshift/hyperconverged.ts'
import { itemsOf } from '../../../kube/known.ts'
import { operatorConditionGate } from '../../../openshift/platform-status.ts'
import { againstPlatform } from '../../../releases/platform-releases.ts'
import { compareMinors, operatorVersionOf } from '../../../releases/release-versions.ts'
import { manually } from '../../../upgrade/methods/olm-operator.ts'
import { isMidWindow, type Judged, unreadRemedy } from '../eus-snapshot.ts'
import { objectsOf, operatorMinorNow, operatorNow, subscriptionOf } from '../operator-path.ts'
import { assessResolution } from '../../../openshift/olm-resolution.ts'
import type { KubeObject } from '../../../kube/object.ts'
import { beingDeleted } from '../../../kubevirt/installation.ts'

/** What the operator and HyperConverged say. */
export function operatorFindings(judged: Judged): readonly Finding[] {
  return [
    ...installations(judged),
    ...outOfStep(judged),
    ...nextToStable(judged),
    ...notGood(judged),
    ...held(judged),
    ...tainted(judged),
  ]
}

/** Exactly one HyperConverged and one Subscription of OLM: nothing else is moved from minor to minor (night E10). Named as `kvup upgrade` names it. */
function installations({ snapshot: { snapshot } }: Judged): readonly Finding[] {
  const { hyperconverged, lifecycle } = snapshot
  const hcos = itemsOf(hyperconverged)
  const subscriptions = itemsOf(lifecycle.subscriptions)
  if (hcos.length > 1) {
    const found = several('HyperConvergeds', hcos.map(nameOf), 'oc get hyperconvergeds -A')
    return [{ id: 'several-hyperconvergeds', ...found }]
  }
  if (hyperconverged.known && hcos.length === 0) return [withoutOperator]
  if (itemsOf(lifecycle.clusterExtensions).length > 0) return [byExtension]
  if (subscriptions.length > 1) {
    const command = 'oc get subscriptions.operators.coreos.com -A'
    const found = several('Subscriptions of it', subscriptions.map(nameOf), command)
    return [{ id: 'several-subscriptions', ...found }]
  }
  return lifecycle.subscriptions.known && subscriptions.length === 0 ? [withoutOlm] : []
}

const nameOf = ({ metadata }: { metadata: { namespace?: string; name: string } }): string =>
  `${metadata.namespace ?? ''}/${metadata.name}`

const several = (what: string, names: readonly string[], command: string): Omit<Finding, 'id'> => ({
  level: 'blocker',
  summary: `there are ${names.length} ${what} (${names.join(', ')}), and one is right`,
  objects: names,
  remedy: [`${command}      then delete those that nobody follows`],
})

const withoutOperator: Finding = {
  id: 'no-hyperconverged',
  level: 'blocker',
  summary: 'there is no HyperConverged: no operator takes KubeVirt from minor to minor beside the platform',
  remedy: [
    'kvup plan --to VERSION      plans KubeVirt alone',
    'oc adm upgrade      updates the platform alone',
  ],
}

const byExtension: Finding = {
  id: 'olm-v1',
  level: 'blocker',
  summary:
    'the operator is installed by a ClusterExtension: that generation of OLM knows no OperatorCondition, and kvup does not carry it',
  remedy: ['oc get clusterextensions'],
}

const withoutOlm: Finding = {
  id: 'no-subscription',
  level: 'blocker',
  summary: 'HyperConverged was installed without OLM: no Subscription moves it, its release manifest does',
  remedy: manually,
}

/** On OpenShift its catalog follows the platform, and in that one channel lies every minor of it (night E8). */
function nextToStable({ snapshot: { flavour, snapshot } }: Judged): readonly Finding[] {
  const { channel, subscription } = operatorNow(snapshot) ?? {}
  if (flavour !== 'ocp' || channel === undefined || channel === 'stable') return []
  const { namespace = '', name = '' } = subscription ?? {}
  return [
    {
      id: 'version-in-step',
      level: 'warning',
      summary: `the Subscription ${namespace}/${name} follows channel ${channel}, not stable: on OpenShift only releases of stable are supported, and of the minor of the platform`,
      remedy: [
        `oc -n ${namespace} patch subscriptions.operators.coreos.com ${name} --type=merge -p '{"spec":{"channel":"stable"}}'     before the window`,
      ],
    },
  ]
}

/** An operator that does not fit its platform (night E8). In the middle of a window the operator behind is the next step. */
function outOfStep(judged: Judged): readonly Finding[] {
  const { snapshot, releases } = judged
  const operator = operatorMinorNow(snapshot.snapshot, releases)
  const version = operatorNow(snapshot.snapshot)?.version
  if (version === undefined) return []
  if (operator === undefined) return aheadOfAllRows(judged, version)
  const order = compareMinors(operator, snapshot.here)
  const isNext = order < 0 && (isMidWindow(judged) || snapshot.platformStatus.state === 'updating')
  if (order === 0 || isNext) return []
  const minor = order < 0 ? `${operator} still` : `${operator} already`
  return [
    {
      id: 'version-in-step',
      level: 'blocker',
      summary: `unsupported: out of step. The operator ${version} is that of ${minor}, the platform is at ${snapshot.release}`,
      remedy:
        order < 0
          ? [
              'kvup upgrade      says which release of the operator can be reached, and takes it there with --to',
            ]
          : ['oc adm upgrade      says how to take the platform to the same minor'],
    },
  ]
}

/** No row knows its minor, and one before it belongs to this platform already. */
function aheadOfAllRows({ snapshot, releases }: Judged, text: string): readonly Finding[] {
  const version = operatorVersionOf(text)
  const against = version && againstPlatform(version, snapshot.here, releases)
  if (against?.is !== 'beyond') return []
  return [
    {
      id: 'version-in-step',
      level: 'blocker',
      summary: `unsupported: out of step. The operator ${text} ${against.why}, and the platform is at ${snapshot.release}`,
      remedy: ['oc adm upgrade      says how to take the platform to the same minor'],
    },
  ]
}

/** Its own Upgradeable=True means only that nothing progresses or is degraded: every condition counts (ocp 9.5, 9.6). */
function notGood({ snapshot: { snapshot, platformStatus } }: Judged): readonly Finding[] {
  const [hco] = itemsOf(snapshot.hyperconverged)
  if (!snapshot.hyperconverged.known)
    return [
      {
        id: 'hyperconverged-not-good',
        level: 'not-checked',
        summary: `whether HyperConverged is as it must be: ${snapshot.hyperconverged.why}`,
        remedy: [unreadRemedy(snapshot.hyperconverged.why)],
      },
    ]
  if (hco === undefined || platformStatus.state === 'updating') return []
  const { good, why } = assessHyperConverged(hco)
  if (good) return []
  const { name, namespace = '' } = hco.metadata
  return [
    {
      id: 'hyperconverged-not-good',
      level: 'blocker',
      summary: `HyperConverged ${namespace}/${name} is not as it must be before the platform goes on: ${why.join('; ')}`,
      objects: [`hyperconverged/${name}`],
      remedy: ['kvup status'],
    },
  ]
}

/** Where it is what HyperConverged says of itself it is told once. */
function held({ snapshot: { snapshot } }: Judged): readonly Finding[] {
  const csv = subscriptionOf(snapshot)?.installed
  const found = itemsOf(snapshot.lifecycle.operatorConditions).find(({ metadata }) => metadata.name === csv)
  const gate = operatorConditionGate(found)
  if (gate.is !== 'no') return []
  return [
    {
      id: 'operator-held',
      level: 'blocker',
      summary: `OLM would not replace the operator: its OperatorCondition says ${gate.reason}: ${gate.message}`,
      objects: [`operatorcondition/${csv ?? ''}`],
      remedy: [`oc -n ${found?.metadata.namespace ?? ''} get operatorcondition ${csv ?? ''} -o yaml`],
    },
  ]
}

/** A HyperConverged whose operands are patched by annotation: nobody supports what comes of it (ocp 1.5). */
function tainted({ snapshot: { snapshot } }: Judged): readonly Finding[] {
  const [hco] = itemsOf(snapshot.hyperconverged)
  const annotations = Object.keys(hco?.metadata.annotations ?? {}).filter((key) => key.endsWith('/jsonpatch'))
  const said = hco && assessHyperConverged(hco).tainted
  if (hco === undefined || (said === undefined && annotations.length === 0)) return []
  const { name, namespace = '' } = hco.metadata
  return [
    {
      id: 'hyperconverged-tainted',
      level: 'warning',
      summary: `HyperConverged carries patches that nobody supports (${annotations.join(', ') || said}): they may not fit the next release`,
      objects: [`hyperconverged/${name}`],
      remedy: annotations.map(
        (key) => `oc -n ${namespace} annotate hyperconverged ${name} ${key}-      after saving what it says`,
      ),
    },
  ]
}

/** Nothing is borrowed of what somebody takes away, and no operator follows the platform for it. Named as `kvup upgrade` names it. */
export function beingDeletedFindings({ snapshot: { snapshot } }: Judged): readonly Finding[] {
  return [
    ...itemsOf(snapshot.kubevirts).flatMap((one) => going('kubevirt-deleting', one)),
    ...itemsOf(snapshot.hyperconverged).flatMap((one) => going('hyperconverged-deleting', one)),
  ]
}

type Deleting = 'kubevirt-deleting' | 'hyperconverged-deleting'

function going(id: Deleting, object: KubeObject): readonly Finding[] {
  const resource = id.replace('-deleting', '')
  const summary = beingDeleted(`${resource}s`, object)
  if (summary === undefined) return []
  return [
    {
      id,
      level: 'blocker',
      summary,
      objects: [`${resource}/${object.metadata.name}`],
      remedy: ['kvup status'],
    },
  ]
}

/** What OLM has to offer the next operator with. */
export function lifecycleFindings(judged: Judged): readonly Finding[] {
  return [...catalog(judged), ...groups(judged), ...approval(judged)]
}

/** An operator whose catalog does not answer is stranded behind the platform (ocp 2.6, 7.4). */
function catalog({ snapshot: { snapshot } }: Judged): readonly Finding[] {
  const [object] = itemsOf(snapshot.lifecycle.subscriptions)
  const resolution = object && assessResolution(object, snapshot.lifecycle.csvs, snapshot.at)
  const isFailed = resolution?.is === 'failed'
  const troubles = (subscriptionOf(snapshot)?.troubles ?? []).filter(
    ({ type }) => type !== 'ResolutionFailed' || isFailed,
  )
  const silent = itemsOf(snapshot.lifecycle.catalogSources).filter(
    ({ status }) => status?.connectionState?.lastObservedState !== 'READY',
  )
  const told = [
    ...silent.map(
      ({ metadata, status }) =>
        `CatalogSource ${metadata.name} is ${status?.connectionState?.lastObservedState ?? 'not connected'}`,
    ),
    ...troubles.map(({ type, reason, message }) => `${type} (${reason}): ${message}`),
  ]
  if (told.length === 0) return []
  return [
    {
      id: 'catalog-not-healthy',
      level: 'blocker',
      summary: `OLM could not offer the next operator: ${told.join('; ')}`,
      objects: silent.map(({ metadata }) => `catalogsource/${metadata.name}`),
      remedy: ['oc get catalogsources -A'],
    },
  ]
}

/** With more or less than one every CSV of the namespace fails (ocp 2.6). */
function groups({ snapshot: { snapshot } }: Judged): readonly Finding[] {
  const { operatorGroups, namespace } = snapshot.lifecycle
  if (!operatorGroups.known || namespace === undefined || operatorGroups.items.length === 1) return []
  return [
    {
      id: 'one-operator-group',
      level: 'blocker',
      summary: `there are ${operatorGroups.items.length} OperatorGroups in namespace ${namespace}, and OLM needs exactly one`,
      objects: operatorGroups.items.map(({ metadata }) => `operatorgroup/${metadata.name}`),
      remedy: [`oc -n ${namespace} get operatorgroups`],
    },
  ]
}

/** Seed 003 recommends Automatic; Manual gives the hops into the hands of whoever carries them out (ocp 2.3). */
function approval({ snapshot: { snapshot }, hops }: Judged): readonly Finding[] {
  const now = operatorNow(snapshot)
  if (now === undefined || hops.length === 0 || objectsOf(snapshot).hyperconverged === undefined) return []
  if (now.approval === 'Manual')
    return [
      {
        id: 'approval-manual',
        level: 'info',
        summary: `Subscription ${now.subscription.name} is Manual: with --approve kvup approves exactly the InstallPlan of each hop, without it a run ends before each. Automatic is what the platform recommends for the time after`,
        objects: [`subscription/${now.subscription.name}`],
        remedy: [],
      },
    ]
  return [
    {
      id: 'approval-automatic',
      level: 'info',
      summary: `Subscription ${now.subscription.name} is Automatic, as recommended: OLM begins each update by itself as soon as the catalog has it, even while the platform is still being updated`,
      objects: [`subscription/${now.subscription.name}`],
      remedy: [],
    },
  ]
}
