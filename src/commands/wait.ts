import { Command, Option } from 'commander'
import type { Context } from '../context.ts'
import type { StatusReport } from '../lib/facts/status-report.ts'
import { parseWaitCondition, type WaitCondition } from '../lib/facts/wait-condition.ts'
import { vmTroubleLines } from '../lib/output/views/vm-trouble-lines.ts'
import { type WaitDocument, waitView } from '../lib/output/views/wait.ts'
import { ownTicks } from '../lib/system/clock.ts'
import { formatDuration, parseDuration } from '../lib/system/duration.ts'
import { type KvupError, timedOut } from '../lib/system/errors.ts'
import type { Wire } from '../wire.ts'
import { asksCluster, manual } from './manual.ts'
import { untilItHolds } from './wait/until-it-holds.ts'

export interface WaitOptions {
  for: string
  timeout: string
}

export function waitCommand(wire: Wire): Command {
  return new Command('wait')
    .addOption(
      new Option(
        '--for <condition>',
        'settled, version=VERSION (settled at it), workloads=0 (settled, and no VM on an old virt-launcher) or pools-updated (every MachineConfigPool of OpenShift)',
      ).makeOptionMandatory(),
    )
    .addOption(new Option('--timeout <duration>', 'how long to wait at most').default('60m'))
    .addHelpText(
      'after',
      manual({
        examples: [
          ['kvup wait --for settled', 'until every component runs what it should'],
          ['kvup wait --for version=v1.8.4 --timeout 90m', 'until it is settled at that version'],
          ['kvup wait --for workloads=0 --timeout 8h', 'until no VM is left on an old virt-launcher'],
          ['kvup wait --for settled -o json', 'for a script: how it ended as a document'],
        ],
        more: 'It only reads. 4 is the timeout: the last lines say what was missing, and why.',
        codes: [...asksCluster, 'timedOut', 'interrupted', 'terminated'],
      }),
    )
    .action(wire(wait))
}

/** What was seen last. */
interface Seen {
  report?: StatusReport | undefined
  looked?: true
  missing?: string | undefined
}

/** Exit 0 when it holds; `timedOut` with what was missing. Writes nothing and takes no lock. */
export async function wait(cx: Context, options: WaitOptions): Promise<void> {
  const condition = parseWaitCondition(options.for)
  const timeout = parseDuration(options.timeout)
  const { reader } = await cx.cluster()
  const began = ownTicks(cx.clock)
  const seen: Seen = {}
  const answer = () => cx.printer.result(documentOf(condition, seen, took(cx, began)), waitView)
  const { signal, over, stop } = limited(cx, timeout)
  try {
    await untilItHolds(condition, {
      reader,
      clock: cx.clock,
      signal,
      seen: (report, missing) => tell(cx, seen, { report, missing }),
      remark: (line) => cx.printer.warn(line),
      told: (line) => cx.printer.note(line),
    })
    answer()
  } catch (error) {
    if (error !== over.reason) throw error
    if (seen.looked) answer()
    throw tooLate(condition, seen, timeout)
  } finally {
    stop()
  }
}

const took = ({ clock }: Context, began: number) => Math.round((ownTicks(clock) - began) / 1000)

/** Aborted at the end of the command's time, by its clock, and with the command. */
function limited({ clock, signal }: Context, ms: number) {
  const [end, done] = [new AbortController(), new AbortController()]
  clock.sleep(ms, done.signal).then(
    () => end.abort(),
    () => undefined,
  )
  return { signal: AbortSignal.any([signal, end.signal]), over: end.signal, stop: () => done.abort() }
}

/** Only what is new: reports also differ in what nobody waits for. */
function tell({ printer }: Context, seen: Seen, { report, missing }: Seen): void {
  const [known, now] = [sentences(seen), sentences({ report, missing })]
  Object.assign(seen, { report, missing, looked: true })
  for (const line of now) if (!known.includes(line)) printer.note(line)
}

function sentences({ report, missing }: Seen): readonly string[] {
  if (missing === undefined) return []
  const { troubled } = report?.workloads ?? {}
  const vms = troubled ? vmTroubleLines(troubled) : []
  return [`waiting for ${missing}`, ...(report?.why ?? []).map(({ sentence }) => sentence), ...vms]
}

function documentOf(condition: WaitCondition, { report, missing }: Seen, tookSeconds: number): WaitDocument {
  const { verdict, observed, why = [], remarks = [], workloads: { troubled } = {} } = report ?? {}
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'Wait',
    for: condition.text,
    met: missing === undefined,
    ...(verdict && { verdict }),
    ...(observed?.version && { version: observed.version }),
    tookSeconds,
    ...(missing !== undefined && { waitingFor: missing }),
    ...(why.length > 0 && { why }),
    ...(remarks.length > 0 && { remarks }),
    ...(troubled && troubled.count > 0 && { vms: troubled }),
  }
}

function tooLate(condition: WaitCondition, { report, missing }: Seen, timeout: number): KvupError {
  const why = report?.why ?? []
  const what = missing ?? 'an answer of the cluster'
  return timedOut(
    'wait-timed-out',
    `${condition.text} does not hold after ${formatDuration(timeout)}: still waiting for ${what}`,
    {
      notes: why.map(({ sentence }) => sentence),
      remedy: [...new Set([...why.flatMap(({ look }) => look), 'kvup status'])],
    },
  )
}
