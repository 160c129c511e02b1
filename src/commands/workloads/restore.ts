import { Command } from 'commander'
import type { Context } from '../../context.ts'
import { giveBackView, type GiveBackDocument } from '../../lib/output/views/give-back.ts'
import { standingParts } from '../../lib/facts/snapshot.ts'
import { windowHoldsFinding } from '../../lib/eus/run/window-open-finding.ts'
import type { Loan } from '../../lib/procedure/journal.ts'
import { blocked, usageError } from '../../lib/system/errors.ts'
import { parseDuration } from '../../lib/system/duration.ts'
import { shellWord } from '../../lib/system/shell-word.ts'
import { exitCode, type ExitCode } from '../../lib/system/exit-codes.ts'
import { carryOut, type Work } from '../../lib/run/carry-out.ts'
import { parseAccepted } from '../../lib/run/gate.ts'
import { asLoan, settleMissingValues } from '../../lib/run/missing-values.ts'
import { settledFor } from '../../lib/upgrade/steps/settled.ts'
import { evictionFinding, forecastOutdated } from '../../lib/workloads/eviction-finding.ts'
import { nameOf } from '../../lib/workloads/find-owner.ts'
import { type Forecast, forecastText, forecastUpdates } from '../../lib/workloads/forecast.ts'
import { restoreLine } from '../../lib/workloads/held-lines.ts'
import { loanOn } from '../../lib/workloads/loan-on.ts'
import { type Meanwhile, restoreProcedure } from '../../lib/workloads/restore.ts'
import { methodsIn, type SettingsOwner } from '../../lib/workloads/strategy/owner.ts'
import { keptMethods, loanId, methodsText } from '../../lib/workloads/update-methods.ts'
import type { Wire } from '../../wire.ts'
import { asksCluster, manual } from '../manual.ts'
import { type ChangeOptions, withChangeFlags } from './change-flags.ts'
import { rehearsed } from './dry-run.ts'
import { machineLoans, type MachinesEnd, restoreMachines } from './restore/machines.ts'
import { namespaceOf } from './outdated/selection.ts'
import { ownerInDocument, rightsFor, seeSettings, type SettingsWork } from './settings-work.ts'
import { withResume } from './with-resume.ts'

export interface RestoreOptions extends ChangeOptions {
  keepCurrent?: boolean
  overwrite?: boolean
}

export function restoreCommand(wire: Wire): Command {
  return withChangeFlags(
    new Command('restore')
      .argument('[vm...]', 'only these VMs, by name in the namespace of -n; default: all that was borrowed')
      .option('--keep-current', 'where somebody changed it meanwhile: leave their value and close the loan')
      .option('--overwrite', 'where somebody changed it meanwhile: set the kept value'),
    'how long to wait for KubeVirt to settle',
    '10m',
  )
    .addHelpText(
      'after',
      manual({
        examples: [
          ['kvup workloads restore', 'gives back what kvup history shows as borrowed'],
          ['kvup workloads restore db -n shop --keep-current', 'of one VM, and of nothing else'],
          ['kvup workloads restore --overwrite --yes', 'also where somebody changed it meanwhile'],
        ],
        codes: [...asksCluster, 'timedOut', 'locked', 'interrupted', 'terminated'],
      }),
    )
    .action(wire<RestoreOptions, [string[]]>(restore))
}

/** Gives back what an upgrade, a hold or an unblock borrowed, from anywhere; the journal in the cluster and the VMs know the values. */
export async function restore(
  cx: Context,
  options: RestoreOptions,
  names: readonly string[] = [],
): Promise<ExitCode> {
  const meanwhile = meanwhileOf(options)
  if (names.length > 0 && namespaceOf(cx.flags.namespace) === undefined)
    throw usageError('which-namespace', 'in which namespace? Names of VMs need -n', {
      remedy: `kvup workloads restore ${names.map(shellWord).join(' ')} -n NAMESPACE`,
    })
  parseDuration(options.timeout)
  const seen = await seeSettings(cx, {
    parts: standingParts,
    takeOver: options.takeOver,
    accept: options.accept,
  })
  const machines = await machineLoans(cx, seen, names)
  for (const name of names.filter((one) => !machines.some(({ ref }) => ref.name === one)))
    cx.printer.warn(`kvup lent nothing to VM ${name}, or it is given back already`)
  const end =
    names.length > 0
      ? { outcome: 'not-asked' as const, methods: methodsIn(seen.holding, seen.owner) }
      : await restoreMethods(cx, seen, { meanwhile, options })
  if (machines.length === 0) {
    cx.printer.result(documentOf(seen, end), giveBackView)
    return exitCode.done
  }
  const both = await restoreMachines(cx, seen, { loans: machines, meanwhile, options })
  const document = { ...documentOf(seen, end), machines: both.machines }
  if (both.dryRun === undefined) cx.printer.result(document, giveBackView)
  else cx.printer.result({ ...document, ...rehearsal(end, both) }, giveBackView)
  if (both.error) throw both.error
  return exitCode.done
}

/** Of the methods and of the VMs, as one. */
function rehearsal(
  { steps = [] }: End,
  both: MachinesEnd,
): Pick<GiveBackDocument, 'outcome' | 'dryRun' | 'steps'> {
  return {
    outcome: 'rehearsed',
    ...(both.dryRun && { dryRun: both.dryRun }),
    steps: [...steps, ...both.steps],
  }
}

type End = Omit<GiveBackDocument, 'apiVersion' | 'kind' | 'kubevirt' | 'owner'>

async function restoreMethods(
  cx: Context,
  seen: SettingsWork,
  { meanwhile, options }: { meanwhile: Meanwhile; options: RestoreOptions },
): Promise<End> {
  const { owner, hands, holding } = seen
  const now = methodsIn(holding, owner)
  await askAboutMissing(cx, seen, { meanwhile, options })
  const loan = loanToGiveBack(await hands.journal.loans(), owner, meanwhile)
  if (!loan) return { outcome: 'nothing-borrowed', methods: now }
  const terms = { ...seen, loan, now, meanwhile, options, forecast: await forecastOf(seen, loan) }
  const work = workOf(terms)
  const dry = await rehearsed(cx, work.procedure, { hands, dryRun: options.dryRun })
  if (dry) return { outcome: 'rehearsed', methods: now, ...dry }
  await withResume(cx, carryOut(work, { ...hands, announce: () => announce(cx, terms) }))
  if (meanwhile === 'keep-current') return { outcome: 'left-as-it-is', methods: now }
  return { outcome: 'given-back', methods: keptMethods(loan) }
}

/** The journal claims methods that no note on the object confirms: a person says, here or by `--keep-current`. */
async function askAboutMissing(
  { prompt, clock }: Context,
  { hands: { journal } }: SettingsWork,
  { meanwhile, options }: { meanwhile: Meanwhile; options: RestoreOptions },
): Promise<void> {
  if (meanwhile !== 'keep-current')
    return settleMissingValues(journal, { prompt, accepted: parseAccepted(options.accept), only: loanId })
  for (const missing of await journal.missing())
    if (missing.id === loanId) journal.believe(asLoan(missing, clock.now().toISOString()))
}

/** The loan of this KubeVirt, or one of a KubeVirt that was here before: its value is nobody's until a person says so. */
function loanToGiveBack(
  loans: readonly Loan[],
  owner: SettingsOwner,
  meanwhile: Meanwhile,
): Loan | undefined {
  const own = loanOn(owner, loans)
  const former = loans.find(({ id }) => id === loanId)
  if (own !== undefined || former === undefined || meanwhile !== 'ask') return own ?? former
  throw blocked(
    'kubevirt-replaced',
    `workloadUpdateMethods was ${keptMethods(former).join(', ')} on a ${former.object.kind} that was deleted since; what is here now is another one`,
    {
      object: nameOf(owner),
      remedy: [
        `${restoreLine(former)} --overwrite        sets the kept value on the present one`,
        `${restoreLine(former)} --keep-current     closes the loan and leaves the present value`,
      ],
    },
  )
}

interface Terms extends SettingsWork {
  loan: Loan
  /** The methods as they are now. */
  now: readonly string[]
  meanwhile: Meanwhile
  options: RestoreOptions
  /** What the kept methods will do once they are given back. */
  forecast: Forecast
}

/** What is outdated is labelled only once the update is over: before that every VMI counts. */
async function forecastOf(
  { standing, installation: { kubevirt }, cluster: { reader } }: SettingsWork,
  loan: Loan,
): Promise<Forecast> {
  const methods = keptMethods(loan)
  if (standing.verdict === 'Settled') return forecastOutdated(reader, kubevirt, methods)
  return forecastUpdates(reader, { kubevirt, methods })
}

function announce({ printer }: Context, { loan, meanwhile, forecast, standing }: Terms): void {
  printer.note(`borrowed by ${loan.by} at ${loan.at}: ${keptMethods(loan).join(', ')}`)
  if (meanwhile === 'keep-current') return
  const all = standing.verdict === 'Settled' ? '' : ', counting all VMs because it is not settled,'
  printer.note(`once given back, KubeVirt${all} ${forecastText(forecast)}`)
}

function workOf({ owner, loan, now, meanwhile, options, forecast }: Terms): Work {
  const leave = meanwhile === 'keep-current'
  const settled = settledFor(owner.kubevirt, { id: 'settled', title: 'KubeVirt is settled', settleMs: 0 })
  const kept = keptMethods(loan)
  return {
    procedure: restoreProcedure({ owner, meanwhile, settled, takenFrom: loan.object.uid }),
    findings: [...windowHoldsFinding(loan), ...(leave ? [] : evictionFinding(kept, forecast))],
    accepted: parseAccepted(options.accept),
    rights: rightsFor(owner),
    question: leave
      ? `Leave ${now.length > 0 ? methodsText(now) : 'no methods'} and close the loan?`
      : `Set workloadUpdateMethods back to ${kept.join(', ')}?`,
    limits: { timeoutMs: parseDuration(options.timeout) },
  }
}

function documentOf({ installation: { name, namespace }, owner }: SettingsWork, end: End): GiveBackDocument {
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'GiveBack',
    kubevirt: { name, namespace },
    owner: ownerInDocument(owner),
    ...end,
  }
}

function meanwhileOf({ keepCurrent, overwrite }: RestoreOptions): Meanwhile {
  if (keepCurrent && overwrite)
    throw usageError('contradiction', '--keep-current and --overwrite exclude each other')
  if (overwrite) return 'overwrite'
  return keepCurrent ? 'keep-current' : 'ask'
}
