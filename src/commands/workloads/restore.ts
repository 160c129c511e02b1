import { Command, Option } from 'commander'
import type { Context } from '../../context.ts'
import { giveBackView, type GiveBackDocument } from '../../lib/output/views/give-back.ts'
import type { Cluster } from '../../lib/cluster/cluster.ts'
import type { Installation } from '../../lib/facts/installation.ts'
import type { Loan } from '../../lib/procedure/journal.ts'
import { blocked, usageError } from '../../lib/system/errors.ts'
import { parseDuration } from '../../lib/system/duration.ts'
import { exitCode, type ExitCode } from '../../lib/system/exit-codes.ts'
import { carryOut, type Work } from '../../lib/run/carry-out.ts'
import { parseAccepted } from '../../lib/run/gate.ts'
import { accessOf } from '../../lib/upgrade/required-access.ts'
import { ownerOf, type Seen } from '../../lib/upgrade/make-plan.ts'
import { settledFor } from '../../lib/upgrade/steps/settled.ts'
import { seeForUpgrade } from '../../lib/upgrade/see.ts'
import { evictionFinding, forecastOutdated } from '../../lib/workloads/eviction-finding.ts'
import { type Forecast, forecastText } from '../../lib/workloads/forecast.ts'
import { type Meanwhile, restoreProcedure } from '../../lib/workloads/restore.ts'
import { keptMethods, loanId, openLoan, type Owner } from '../../lib/workloads/update-methods.ts'
import type { Wire } from '../../wire.ts'
import { asksCluster, manual } from '../manual.ts'
import { handsOf } from '../upgrade/hands.ts'

export interface RestoreOptions {
  keepCurrent?: boolean
  overwrite?: boolean
  accept: string[]
  timeout: string
  takeOver?: string
}

export function restoreCommand(wire: Wire): Command {
  return new Command('restore')
    .option('--keep-current', 'where somebody changed it meanwhile: leave their value and close the loan')
    .option('--overwrite', 'where somebody changed it meanwhile: set the kept value')
    .addOption(
      new Option('--accept <id>', 'take a risk by the name of its finding (repeatable)')
        .argParser((value: string, before: string[]) => [...before, value])
        .default([], 'none'),
    )
    .option('--timeout <duration>', 'how long to wait for KubeVirt to settle', '10m')
    .option('--take-over <holder>', 'take the lock of this holder')
    .addHelpText(
      'after',
      manual({
        examples: [
          ['kvup workloads restore', 'gives back what kvup history shows as borrowed'],
          ['kvup workloads restore --overwrite --yes', 'also where somebody changed it meanwhile'],
        ],
        codes: [...asksCluster, 'timedOut', 'locked', 'interrupted', 'terminated'],
      }),
    )
    .action(wire(restore))
}

/** Gives back what an upgrade borrowed, from anywhere; the journal in the cluster knows the value. */
export async function restore(cx: Context, options: RestoreOptions): Promise<ExitCode> {
  const meanwhile = meanwhileOf(options)
  parseDuration(options.timeout)
  const cluster = await cx.cluster()
  const { takeOver } = options
  const handsIn = (namespace: string) => handsOf(cx, cluster, { namespace, takeOver })
  const seen = await seeForUpgrade(cluster.reader, cx.clock, (namespace) =>
    handsIn(namespace).journal.loans(),
  )
  const { installation } = seen
  const owner = ownerOf(installation)
  const hands = handsIn(owner.ref.namespace)
  const loan = loanToGiveBack(await hands.journal.loans(), owner, meanwhile)
  const print = (outcome: GiveBackDocument['outcome'], methods: readonly string[]) =>
    cx.printer.result(
      { apiVersion: 'kvup.io/v1alpha1', kind: 'GiveBack', kubevirt: owner.ref, outcome, methods },
      giveBackView,
    )
  if (!loan) {
    print('nothing-borrowed', installation.workloadUpdateMethods)
    return exitCode.done
  }
  const forecast = await forecastOf(seen, loan, cluster)
  await carryOut(workOf({ owner, loan, installation, meanwhile, options, forecast }), {
    ...hands,
    announce() {
      cx.printer.note(`borrowed by ${loan.by} at ${loan.at}: ${keptMethods(loan).join(', ')}`)
      if (meanwhile !== 'keep-current') cx.printer.note(`once given back, KubeVirt ${forecastText(forecast)}`)
    },
  })
  if (meanwhile === 'keep-current') print('left-as-it-is', installation.workloadUpdateMethods)
  else print('given-back', keptMethods(loan))
  return exitCode.done
}

/** The loan of this KubeVirt, or one of a KubeVirt that was here before: its value is nobody's until a person says so. */
function loanToGiveBack(loans: readonly Loan[], owner: Owner, meanwhile: Meanwhile): Loan | undefined {
  const own = openLoan(loans, owner.uid)
  const former = loans.find(({ id }) => id === loanId)
  if (own !== undefined || former === undefined || meanwhile !== 'ask') return own ?? former
  throw blocked(
    'kubevirt-replaced',
    `workloadUpdateMethods was ${keptMethods(former).join(', ')} on a KubeVirt that was deleted since; what is here now is another one`,
    {
      object: `kubevirts/${owner.ref.name} in namespace ${owner.ref.namespace}`,
      remedy: [
        'kvup workloads restore --overwrite        sets the kept value on the present one',
        'kvup workloads restore --keep-current     closes the loan and leaves the present value',
      ],
    },
  )
}

interface Terms {
  owner: Owner
  loan: Loan
  installation: Installation
  meanwhile: Meanwhile
  options: RestoreOptions
  /** What the kept methods will do once they are given back. */
  forecast: Forecast
}

/** What is outdated is labelled only once the update is over: before that every VMI counts. */
async function forecastOf(
  { standing, forecast, installation }: Seen,
  loan: Loan,
  { reader }: Cluster,
): Promise<Forecast> {
  if (standing.verdict !== 'Settled') return forecast
  return forecastOutdated(reader, installation.kubevirt, keptMethods(loan))
}

function workOf({ owner, loan, installation, meanwhile, options, forecast }: Terms): Work {
  const leave = meanwhile === 'keep-current'
  const settled = settledFor(owner, { id: 'settled', title: 'KubeVirt is settled', settleMs: 0 })
  const kept = keptMethods(loan)
  const needed = accessOf('kvup-upgrade', owner.ref.namespace).filter(({ optional }) => !optional)
  return {
    procedure: restoreProcedure({ owner, meanwhile, settled, takenFrom: loan.object.uid }),
    findings: leave ? [] : evictionFinding(kept, forecast),
    accepted: parseAccepted(options.accept),
    rights: { required: needed.map(({ access }) => access), optional: [], role: 'kvup-upgrade' },
    question: leave
      ? `Leave ${installation.workloadUpdateMethods.join(', ') || 'no methods'} and close the loan?`
      : `Set workloadUpdateMethods back to ${kept.join(', ')}?`,
    limits: { timeoutMs: parseDuration(options.timeout) },
  }
}

function meanwhileOf({ keepCurrent, overwrite }: RestoreOptions): Meanwhile {
  if (keepCurrent && overwrite)
    throw usageError('contradiction', '--keep-current and --overwrite exclude each other')
  if (overwrite) return 'overwrite'
  return keepCurrent ? 'keep-current' : 'ask'
}
