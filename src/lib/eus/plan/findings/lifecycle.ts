import type { Finding } from '../../../checks/finding.ts'
import { itemsOf } from '../../../facts/known.ts'
import type { Judged } from '../judged.ts'
import { objectsOf, operatorNow, subscriptionOf } from '../operator-now.ts'

/** What OLM has to offer the next operator with. */
export function lifecycleFindings(judged: Judged): readonly Finding[] {
  return [...catalog(judged), ...groups(judged), ...approval(judged)]
}

/** ocp 2.6, 7.4: an operator whose catalog does not answer is stranded behind the platform. */
function catalog({ sight: { evidence } }: Judged): readonly Finding[] {
  const troubles = subscriptionOf(evidence)?.troubles ?? []
  const silent = itemsOf(evidence.lifecycle.catalogSources).filter(
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

/** ocp 2.6: with more or less than one every CSV of the namespace fails. */
function groups({ sight: { evidence } }: Judged): readonly Finding[] {
  const { operatorGroups, namespace } = evidence.lifecycle
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
function approval({ sight: { evidence }, hops }: Judged): readonly Finding[] {
  const now = operatorNow(evidence)
  if (now === undefined || hops.length === 0 || objectsOf(evidence).hyperconverged === undefined) return []
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
