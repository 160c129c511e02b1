import type { ClusterServiceVersion } from '../../cluster/kinds/operator-lifecycle.ts'
import type { CsvLook } from './csv-look.ts'
import { holdOf } from './operator-condition.ts'

/** Where a CSV is, and why (ocp 2.4). */
export interface Phase {
  phase: string
  reason: string
  message: string
}

/** Times and faults that decide beside the look, in ms. */
export interface PhaseTimes {
  /** Since it came to the phase it is in. */
  inPhase: number
  /** Since it was made. */
  age: number
  /** It is to fail for so long; `Infinity`: it never comes to Succeeded. */
  failsFor: number
}

/** Installing may take as long (ocp 2.4). */
const installTimeout = 300_000
/** So long it stays Failed before it begins again. */
const backOff = 5000

/** The next phase of a CSV; undefined where it stays as it is. What being in it takes is done by who writes it. */
export function nextPhase(csv: ClusterServiceVersion, look: CsvLook, times: PhaseTimes): Phase | undefined {
  const phase = csv.status?.phase ?? ''
  if (phase === 'Deleting') return undefined
  if (phase === 'Replacing') return replaced(csv, look)
  const successor = look.all.find(({ spec }) => spec?.replaces === csv.metadata.name)
  if (successor !== undefined)
    return to('Replacing', 'BeingReplaced', `being replaced by csv: ${successor.metadata.name}`)
  const ungrouped = withoutGroup(look)
  if (ungrouped !== undefined) return ungrouped
  return steps[phase]?.(csv, look, times)
}

const to = (phase: string, reason: string, message: string): Phase => ({ phase, reason, message })

type Step = (csv: ClusterServiceVersion, look: CsvLook, times: PhaseTimes) => Phase | undefined

const steps: Readonly<Record<string, Step>> = {
  '': () => to('Pending', 'RequirementsUnknown', 'requirements not yet checked'),
  Pending: (csv, look) => pending(csv, look),
  InstallReady: () =>
    to('Installing', 'InstallSucceeded', 'waiting for install components to report healthy'),
  Installing: (_csv, look, times) => installing(look, times),
  Succeeded: (_csv, look, times) => {
    const why = look.unhealthy ?? pretended(times)
    return why === undefined ? undefined : to('Failed', 'ComponentUnhealthy', why)
  },
  Failed: (_csv, look, { inPhase }) =>
    inPhase < backOff
      ? undefined
      : to('Pending', 'NeedsReinstall', look.unhealthy ?? 'installing: waiting for the install strategy'),
}

/** A hold is looked at here alone: nothing asks again later (ocp 2.5). */
function pending(csv: ClusterServiceVersion, look: CsvLook): Phase | undefined {
  const isReplaced = look.all.some(({ metadata }) => metadata.name === csv.spec?.replaces)
  const hold = isReplaced ? holdOf(look.replacedCondition) : undefined
  if (hold !== undefined)
    return to('Pending', 'OperatorConditionNotUpgradeable', `operator is not upgradeable: ${hold}`)
  if (look.requirements.some(({ status }) => status !== 'Present'))
    return to('Pending', 'RequirementsNotMet', "one or more requirements couldn't be found")
  return to('InstallReady', 'AllRequirementsMet', 'all requirements found, attempting install')
}

function installing(look: CsvLook, { inPhase, failsFor }: PhaseTimes): Phase {
  if (inPhase >= installTimeout) return to('Failed', 'InstallCheckFailed', 'install timeout')
  if (look.unhealthy !== undefined) return to('Installing', 'InstallWaiting', look.unhealthy)
  if (failsFor === Infinity) return to('Installing', 'InstallWaiting', unavailableWebhook)
  return to('Succeeded', 'InstallSucceeded', 'install strategy completed with no errors')
}

const unavailableWebhook =
  'installing: waiting for deployment hco-webhook to become ready: deployment "hco-webhook" not available: Deployment does not have minimum availability.'

/** The webhook that comes and goes (ocp 2.4). */
const pretended = ({ age, failsFor }: PhaseTimes): string | undefined =>
  failsFor < Infinity && age < failsFor ? unavailableWebhook : undefined

/** It goes once its successors led to one that runs; the oldest of a chain goes first. */
function replaced(csv: ClusterServiceVersion, { all }: CsvLook): Phase | undefined {
  if (all.some(({ metadata }) => metadata.name === csv.spec?.replaces)) return undefined
  let name = csv.metadata.name
  for (let hops = 0; hops < all.length; hops++) {
    const next = all.find(({ spec }) => spec?.replaces === name)
    if (next === undefined) return undefined
    if (next.status?.phase === 'Succeeded')
      return to(
        'Deleting',
        'Replaced',
        'has been replaced by a newer ClusterServiceVersion that has successfully installed.',
      )
    ;({ name } = next.metadata)
  }
  return undefined
}

function withoutGroup({ operatorGroups }: CsvLook): Phase | undefined {
  if (operatorGroups === 1) return undefined
  if (operatorGroups === 0) return to('Failed', 'NoOperatorGroup', 'csv in namespace with no operatorgroups')
  const message = "csv created in namespace with multiple operatorgroups, can't pick one automatically"
  return to('Failed', 'TooManyOperatorGroups', message)
}
