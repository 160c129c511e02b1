import type { ClusterServiceVersion, OperatorCondition } from '../../cluster/kinds/operator-lifecycle.ts'
import { filled } from '../filled.ts'
import { type CsvStanding, csvStanding } from '../operator-lifecycle/csv-standing.ts'
import { type Held, heldByCondition } from '../operator-lifecycle/held-by-condition.ts'
import { isOverridden, saidOfReplacing } from '../operator-lifecycle/said-of-replacing.ts'
import type { SubscriptionStanding } from '../operator-lifecycle/subscription-standing.ts'
import type { Layer } from './layer.ts'

type Judged = Pick<Layer, 'verdict' | 'says' | 'waitsFor' | 'expected' | 'notes' | 'help'>

interface Seen {
  csvs: readonly ClusterServiceVersion[]
  /** None where they may not be read. */
  conditions: readonly OperatorCondition[]
}

/** The CSV that the Subscription has installed or is about to, with what its OperatorCondition says; undefined while there is none. */
export function csvLayer(
  { csvs, conditions }: Seen,
  { installed, latest, namespace }: SubscriptionStanding,
  at: Date,
): Layer | undefined {
  const csv = [latest, installed]
    .flatMap((name) => csvs.filter(({ metadata }) => metadata.name === name))
    .at(0)
  if (!csv) return undefined
  const standing = csvStanding(csv, at)
  const held = heldByCondition([csv])
  const condition = named(conditions, held ? held.replaces : standing.name)
  const said = held ? undefined : saidOfReplacing(condition)
  const judged = held ? heldBack(held, namespace, condition) : judges[standing.state](standing, namespace)
  return {
    layer: 'csv',
    object: `clusterserviceversion/${standing.name}`,
    ...judged,
    ...(said !== undefined && { notes: [...(judged.notes ?? []), said] }),
    // The operator's own word comes and goes with every update; an override stays until somebody takes it out.
    ...(said !== undefined && isOverridden(condition) && { help: [show(standing.name, namespace)] }),
    ...filled({ since: standing.since }),
  }
}

const named = (conditions: readonly OperatorCondition[], name: string | undefined) =>
  conditions.find(({ metadata }) => metadata.name === name)

const show = (name: string, namespace: string): string =>
  `kubectl -n ${namespace} get operatorconditions.operators.coreos.com ${name} -o yaml`

/** Its own phase says Pending, and everything else that the upgrade is done (ocp 9.11). */
function heldBack(
  { csv, replaces = 'the one before', message }: Held,
  namespace: string,
  condition: OperatorCondition | undefined,
): Judged {
  return {
    verdict: 'Waiting',
    says: `${csv} is held back by OLM; ${replaces} still runs`,
    waitsFor: `the OperatorCondition of ${replaces}`,
    notes: [message, ...(isOverridden(condition) ? ['it is an override in there that says so'] : [])],
    help: [show(replaces, namespace)],
  }
}

const said = ({ reason, message }: CsvStanding): string[] => {
  const text = [reason, message].filter(Boolean).join(': ')
  return text === '' ? [] : [text]
}

type Judge = (csv: CsvStanding, namespace: string) => Judged

const judges: Record<CsvStanding['state'], Judge> = {
  succeeded: (csv) => ({ verdict: 'Settled', says: `${csv.name} is Succeeded` }),
  going: (csv) => ({
    verdict: 'Updating',
    says: `${csv.name} is ${csv.phase || 'new'}`,
    waitsFor: 'it to be Succeeded',
    notes: said(csv),
  }),
  held: (csv) => ({
    verdict: 'Waiting',
    says: `${csv.name} is held back by OLM`,
    waitsFor: 'the OperatorCondition of the one before',
    notes: said(csv),
  }),
  failing: (csv) => ({
    verdict: 'Updating',
    says: `${csv.name} is Failed for now`,
    waitsFor: 'OLM to try again',
    expected: 'it does so by itself',
    notes: said(csv),
  }),
  failed: (csv, namespace) => ({
    verdict: 'Degraded',
    says: `${csv.name} is Failed`,
    notes: said(csv),
    help: [`kubectl -n ${namespace} describe clusterserviceversions ${csv.name}`],
  }),
  leaving: (csv) => ({
    verdict: 'Updating',
    says: `${csv.name} is ${csv.phase}`,
    waitsFor: 'the one that replaces it',
  }),
}
