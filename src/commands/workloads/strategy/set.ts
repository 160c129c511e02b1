import type { ChangeOptions } from '../change-flags.ts'
import type { Context } from '../../../context.ts'
import {
  type WorkloadStrategyDocument,
  workloadStrategyView,
} from '../../../lib/output/views/workload-strategy.ts'
import type { Procedure } from '../../../lib/procedure/step.ts'
import { carryOut, type Work } from '../../../lib/run/carry-out.ts'
import { parseAccepted, passGate } from '../../../lib/run/gate.ts'
import { parseDuration } from '../../../lib/system/duration.ts'
import { exitCode, type ExitCode } from '../../../lib/system/exit-codes.ts'
import { forecastOutdated } from '../../../lib/workloads/eviction-finding.ts'
import { loanOn } from '../../../lib/workloads/loan-on.ts'
import { type Choice, choiceFindings, choiceText } from '../../../lib/workloads/strategy/choice.ts'
import { ensureNotHeld } from '../../../lib/workloads/strategy/not-held.ts'
import { ownerFinding } from '../../../lib/workloads/strategy/owner-finding.ts'
import { setStrategy } from '../../../lib/workloads/strategy/set-strategy.ts'
import { parseWanted, type TypedSettings, type Wanted } from '../../../lib/workloads/strategy/wanted.ts'
import { rehearsed } from '../dry-run.ts'
import { rightsFor, seeSettings, type SettingsWork } from '../settings-work.ts'
import { withResume } from '../with-resume.ts'
import { strategyDocument } from './document.ts'

export interface SetStrategyOptions extends TypedSettings, ChangeOptions {}

/** `kvup workloads strategy set`: what is typed is judged before the cluster is read. */
export async function setWorkloadStrategy(cx: Context, options: SetStrategyOptions): Promise<ExitCode> {
  const wanted = parseWanted(options)
  const timeoutMs = parseDuration(options.timeout)
  const seen = await seeSettings(cx, options)
  ensureNotHeld(wanted, loanOn(seen.owner, await seen.hands.journal.loans()))
  const procedure = procedureOf(seen, wanted)
  const choice = await choiceOf(seen, wanted)
  const work = workOf(seen, { procedure, choice, options, timeoutMs })
  const dry = await rehearsed(cx, procedure, { hands: seen.hands, dryRun: options.dryRun })
  if (dry) {
    await printed(cx, seen, { outcome: 'rehearsed', said: choiceText(choice), ...dry })
    passGate(work.findings, work.accepted)
    return exitCode.done
  }
  const announce = () => {
    const warnings = work.findings.map(({ summary, id }) => `${summary} (${id})`)
    for (const line of [...choiceText(choice), ...warnings]) cx.printer.note(line)
  }
  const ended = await withResume(cx, carryOut(work, { ...seen.hands, announce }))
  const changed = ended.is === 'finished' && ended.changed.length > 0
  return printed(cx, seen, { outcome: changed ? 'set' : 'already-so' })
}

/** Nothing is borrowed by it, and nothing has to be given back. */
function procedureOf({ owner }: SettingsWork, wanted: Wanted): Procedure {
  const step = setStrategy(owner, wanted)
  return {
    name: 'set the workload update strategy',
    loans: [],
    reached: async (reading) => (await step.check(reading)).is === 'done',
    steps: async () => [step],
  }
}

async function choiceOf(
  { installation: { kubevirt }, cluster: { reader } }: SettingsWork,
  wanted: Wanted,
): Promise<Choice> {
  const methods = wanted['workloadUpdateMethods']
  if (!Array.isArray(methods)) return { wanted, kubevirt }
  return { wanted, kubevirt, forecast: await forecastOutdated(reader, kubevirt, methods) }
}

interface Terms {
  procedure: Procedure
  choice: Choice
  options: SetStrategyOptions
  timeoutMs: number
}

function workOf({ owner, holding }: SettingsWork, { procedure, choice, options, timeoutMs }: Terms): Work {
  return {
    procedure,
    findings: [...ownerFinding(owner, holding), ...choiceFindings(choice)],
    accepted: parseAccepted(options.accept),
    rights: rightsFor(owner),
    question: `Set ${Object.keys(choice.wanted).join(', ')} on ${owner.kind.kind} ${owner.ref.name}?`,
    limits: { timeoutMs },
  }
}

async function printed(
  { printer }: Context,
  seen: SettingsWork,
  more: Partial<WorkloadStrategyDocument>,
): Promise<ExitCode> {
  printer.result({ ...(await strategyDocument(seen)), ...more }, workloadStrategyView)
  return exitCode.done
}
