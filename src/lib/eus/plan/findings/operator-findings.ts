import { blocker } from '../../../releases/hop-findings.ts'
import type { Finding } from '../../../checks/check-definition.ts'
import { itemsOf } from '../../../kube/known.ts'
import {
  besideStable,
  catalogTroubles,
  held,
  installedOperator,
  notGood,
  operatorGroupsCount,
  outOfStep,
  tainted,
} from '../../../openshift/operator-rules.ts'
import { manually } from '../../../upgrade/methods/olm-operator.ts'
import { asBlockers, isMidWindow, type Judged, unreadRemedy } from '../eus-snapshot.ts'
import { objectsOf, operatorNow, operatorParts } from '../operator-path.ts'
import { type KubeObject, keyOf } from '../../../kube/object.ts'
import { beingDeleted } from '../../../kubevirt/installation.ts'

/** What the operator and HyperConverged say. */
export const operatorFindings = (judged: Judged): readonly Finding[] => [
  ...installations(judged),
  ...inStep(judged),
  ...(isSomethingAhead(judged)
    ? [...good(judged), ...asBlockers(held(judged.snapshot.snapshot.lifecycle))]
    : []),
  ...tainted(judged.snapshot.snapshot),
]

/** At the target nothing has to be ready for a next step: the last pool's roll has just moved the operator's own pods. */
function isSomethingAhead({ hops }: Judged): boolean {
  return hops.some(({ platform, operators }) => !platform.done || operators.some(({ done }) => !done))
}

/** Exactly one HyperConverged and one Subscription of OLM: nothing else is moved from minor to minor (night E10). Named as `kvup upgrade` names it. */
function installations({ snapshot: { snapshot } }: Judged): readonly Finding[] {
  const { hyperconverged, lifecycle } = snapshot
  const hcos = itemsOf(hyperconverged)
  const subscriptions = itemsOf(lifecycle.subscriptions)
  if (hcos.length > 1) {
    const found = several('HyperConvergeds', hcos.map(keyOf), 'oc get hyperconvergeds -A')
    return [{ id: 'several-hyperconvergeds', ...found }]
  }
  if (hyperconverged.known && hcos.length === 0) return [withoutOperator]
  if (itemsOf(lifecycle.clusterExtensions).length > 0) return [byExtension]
  if (subscriptions.length > 1) {
    const command = 'oc get subscriptions.operators.coreos.com -A'
    const found = several('Subscriptions of it', subscriptions.map(keyOf), command)
    return [{ id: 'several-subscriptions', ...found }]
  }
  return lifecycle.subscriptions.known && subscriptions.length === 0 ? [withoutOlm] : []
}

const several = (what: string, names: readonly string[], command: string): Omit<Finding, 'id'> => ({
  level: 'blocker',
  summary: `there are ${names.length} ${what} (${names.join(', ')}), but only one is allowed`,
  objects: names,
  remedy: [`${command}      then delete the unused ones`],
})

const withoutOperator: Finding = {
  id: 'no-hyperconverged',
  level: 'blocker',
  summary: 'there is no HyperConverged: no operator upgrades KubeVirt together with the platform',
  remedy: [
    'kvup check      says where KubeVirt alone stands',
    'oc adm upgrade      updates the platform alone',
  ],
}

const byExtension: Finding = {
  id: 'olm-v1',
  level: 'blocker',
  summary:
    'the operator is installed by a ClusterExtension: OLM v1 has no OperatorCondition, and kvup does not support it',
  remedy: ['oc get clusterextensions'],
}

const withoutOlm: Finding = {
  id: 'no-subscription',
  level: 'blocker',
  summary: 'HyperConverged was installed without OLM: its release manifest updates it, not a Subscription',
  remedy: manually,
}

/** An operator that does not fit its platform (night E8). In the middle of a window the operator behind is the next step. */
function inStep(judged: Judged): readonly Finding[] {
  const { snapshot, releases } = judged
  const { release, here, platformStatus, flavour, snapshot: observed } = snapshot
  const moves = isMidWindow(judged) || platformStatus.state === 'updating'
  const parts = operatorParts(observed)
  return [
    ...asBlockers(outOfStep(installedOperator(parts), { release, here, moves }, releases)),
    ...besideStable(parts, flavour),
  ]
}

/** Its own Upgradeable=True means only that nothing progresses or is degraded: every condition counts (ocp 9.5, 9.6). */
function good({ snapshot: { snapshot, platformStatus } }: Judged): readonly Finding[] {
  if (!snapshot.hyperconverged.known)
    return [
      {
        id: 'hyperconverged-not-good',
        level: 'not-checked',
        summary: `kvup does not know whether HyperConverged is healthy: ${snapshot.hyperconverged.why}`,
        remedy: [unreadRemedy(snapshot.hyperconverged.why)],
      },
    ]
  return platformStatus.state === 'updating' ? [] : asBlockers(notGood(snapshot))
}

/** Nothing is borrowed of what somebody takes away, and no operator follows the platform for it. Named as `kvup upgrade` names it. */
export const beingDeletedFindings = ({ snapshot: { snapshot } }: Judged): readonly Finding[] => [
  ...itemsOf(snapshot.kubevirts).flatMap((one) => going('kubevirt-deleting', one)),
  ...itemsOf(snapshot.hyperconverged).flatMap((one) => going('hyperconverged-deleting', one)),
]

function going(id: 'kubevirt-deleting' | 'hyperconverged-deleting', object: KubeObject): readonly Finding[] {
  const resource = id.replace('-deleting', '')
  const summary = beingDeleted(`${resource}s`, object)
  if (summary === undefined) return []
  return blocker({
    id,
    summary,
    objects: [`${resource}/${object.metadata.name}`],
    remedy: ['kvup status'],
  })
}

/** What OLM has to offer the next operator with. */
export function lifecycleFindings(judged: Judged): readonly Finding[] {
  const { lifecycle, at } = judged.snapshot.snapshot
  return [
    ...asBlockers(catalogTroubles(lifecycle, at)),
    ...asBlockers(operatorGroupsCount(lifecycle, lifecycle.namespace)),
    ...approval(judged),
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
        summary: `Subscription ${now.subscription.name} is Manual: with --approve, kvup approves exactly the InstallPlan of each step; without it, the run ends before each. Red Hat recommends Automatic`,
        objects: [`subscription/${now.subscription.name}`],
        remedy: [],
      },
    ]
  return [
    {
      id: 'approval-automatic',
      level: 'info',
      summary: `Subscription ${now.subscription.name} is Automatic, as recommended: OLM starts each update as soon as the catalog has it, even during the platform update`,
      objects: [`subscription/${now.subscription.name}`],
      remedy: [],
    },
  ]
}
