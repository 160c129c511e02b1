import { parseDuration, spanText } from '../kube/duration.ts'
import { KvupError, usageError } from '../kube/errors.ts'
import { nearest } from '../kube/text.ts'
import { type ProbeName, probeNames } from './probes.ts'

/** When a run is to make no further change. */
export type StopRule =
  | { text: string; is: 'unavailable'; probe: ProbeName; moreThanMs: number }
  | { text: string; is: 'interrupted'; moreThan: number }

/** What the rules are compared with. */
export interface Figures {
  unavailableMs(probe: ProbeName): number
  interruptedVms: number
}

const forms = ['PROBE.unavailable>DURATION', 'vms.interrupted>NUMBER']

/** `api.unavailable>30s` or `vms.interrupted>0`. Throws `usage` with the list for everything else. */
export function parseStopRule(typed: string): StopRule {
  const { of, what, than } =
    /^\s*(?<of>[a-z]+)\.(?<what>[a-z]+)\s*>\s*(?<than>\S+)\s*$/u.exec(typed)?.groups ?? {}
  if (of === undefined || what === undefined || than === undefined) throw noRule(typed)
  const text = `${of}.${what}>${than}`
  if (of === 'vms' && what === 'interrupted') {
    if (!/^\d{1,7}$/u.test(than)) throw noRule(typed, `${than} is not a number of VMs`)
    return { text, is: 'interrupted', moreThan: Number(than) }
  }
  const probe = probeNames.find((name) => name === of)
  if (probe === undefined || what !== 'unavailable') throw noRule(typed, undefined, nearest(of, probeNames))
  return { text, is: 'unavailable', probe, moreThanMs: durationOf(typed, than) }
}

function durationOf(typed: string, than: string): number {
  try {
    return parseDuration(than)
  } catch (error) {
    if (!(error instanceof KvupError)) throw error
    throw noRule(typed, error.message)
  }
}

function noRule(typed: string, why?: string, meant?: string): KvupError {
  return usageError(
    'no-such-rule',
    `--stop-if ${JSON.stringify(typed)} is no rule that kvup knows${why === undefined ? '' : `: ${why}`}`,
    {
      remedy: [
        ...(meant === undefined ? [] : [`did you mean ${meant}.unavailable?`]),
        `the rules are: ${forms.join(', ')}`,
        `the probes are: ${probeNames.join(', ')}`,
        "for example --stop-if 'api.unavailable>30s'",
      ],
    },
  )
}

/** What is over its limit, in a sentence without an end; undefined where nothing is. Pure. */
export function brokenRule(rules: readonly StopRule[], figures: Figures): string | undefined {
  for (const rule of rules) {
    const said = rule.is === 'interrupted' ? tooMany(rule, figures) : tooLong(rule, figures)
    if (said !== undefined) return `${said} (--stop-if ${rule.text})`
  }
  return undefined
}

function tooMany(
  { moreThan }: StopRule & { is: 'interrupted' },
  { interruptedVms }: Figures,
): string | undefined {
  if (interruptedVms <= moreThan) return undefined
  return `${interruptedVms} ${interruptedVms === 1 ? 'VM was' : 'VMs were'} interrupted`
}

function tooLong(
  { probe, moreThanMs }: StopRule & { is: 'unavailable' },
  figures: Figures,
): string | undefined {
  const ms = figures.unavailableMs(probe)
  return ms > moreThanMs ? `${probe} was unavailable for ${spanText(ms)}` : undefined
}
