import { brief, markdownText, pad, headed } from '../../text.ts'
import type { Paint, Size, View } from '../../printer.ts'
import { planPage, rowLines, wholeText } from '../upgrade/plan-page.ts'
import {
  endMarkdown,
  findingMarkdown,
  judgedFindings,
  sealText,
  stopsOf,
} from '../upgrade/upgrade-plan-words.ts'
import { counted } from '../../../kube/text.ts'
import { spanText } from '../../../kube/duration.ts'
import type { EusPlanDocument } from '../../../eus/planned-eus.ts'

export const eusPlanView: View<EusPlanDocument> = {
  text: (plan, paint, size) => planLines({ plan, paint, size }),
  names: ({ steps }) => steps.map(({ id }) => `step/${id}`),
  formats: { markdown: eusPlanMarkdown },
}

interface Page {
  plan: EusPlanDocument
  paint: Paint
  size: Size
}

const indent = ' '.repeat(4)

function planLines(page: Page): readonly string[] {
  const { plan, paint, size } = page
  const { notes, unknown, time } = plan
  const path = pathLines(plan)
  const isShown = plan.pending || size.wide
  const dotted = (lines: readonly string[]) => lines.map((line) => `${paint.mark.dot} ${line}`)
  return planPage(
    {
      what: headText(plan, paint.mark.to),
      steps: counted(path.filter(({ done }) => !done).length, 'update'),
      time: wholeText(time),
      done: whyDone(plan),
      parts: isShown
        ? [
            [...rowsOf(path, page), ...moreLines(page)],
            labelled(keptLines(plan), paint),
            [
              ...outageLines(plan),
              ...dotted(size.wide ? [] : notes.filter((line) => isNoWayBack.test(line))),
            ],
          ]
        : [],
      details: [
        [pathText(plan), `takes ${time.says}`, ...(plan.seal ? [sealText(plan.seal)] : [])],
        dotted(notes),
        heldLines(plan),
        unknown.map((line) => `? unknown: ${brief(line)}`),
      ],
    },
    plan,
    page,
  )
}

function heldLines({ steps }: EusPlanDocument): readonly string[] {
  const held = steps.filter(({ canBeHeld }) => canBeHeld).map(({ id }) => id)
  return held.length === 0 ? [] : [`can be held by --pause-before: ${held.join(', ')}`]
}

/** The most important one of what it means for the cluster. */
const isNoWayBack = /^There is no way back/u

/** What only `-o wide` tells. */
function moreLines({ plan: { notes, unknown }, paint, size }: Page): readonly string[] {
  if (size.wide) return []
  const more = [
    'gates',
    counted(notes.length, 'remark'),
    ...(unknown.length > 0 ? [`${unknown.length} unknown`] : []),
  ]
  return [paint.dim(`${indent}${more.join(', ')}: -o wide`)]
}

/** With `-o wide` why each release was chosen, and what decides before it. */
function rowsOf(path: readonly PathLine[], page: Page): readonly string[] {
  const { paint, size } = page
  const rows = path.map(({ what, why, done, time, under }) => ({
    title: what,
    time: done ? 'already so' : time,
    isDim: done,
    below: size.wide
      ? [`${indent}${why}`, ...under.map(([label, words]) => `${indent}${paint.dim(`${label}:`)} ${words}`)]
      : [],
  }))
  return rowLines(rows, page)
}

function labelled(entries: readonly (readonly [string, string])[], paint: Paint): readonly string[] {
  const width = Math.max(0, ...entries.map(([label]) => label.length))
  return entries.map(([label, words]) => `${paint.dim(pad(label, width))}   ${words}`)
}

type Hop = EusPlanDocument['hops'][number]

/** One line of the way: a release of the platform or of the operator. */
interface PathLine {
  what: string
  done: boolean
  why: string
  /** How long it takes; empty where that is part of another line. */
  time: string
  /** What decides before it, and what else is to be known. */
  under: readonly (readonly [label: string, text: string])[]
}

const platformNames = { ocp: 'OpenShift', okd: 'OKD' } as const

/** `OpenShift 4.18.21 → 4.20`. */
function headText({ flavour, from, to }: EusPlanDocument, arrow = '→'): string {
  return `${platformNames[flavour]} ${from} ${arrow} ${to}`
}

function pathText({ mode, topology }: EusPlanDocument): string {
  if (mode === 'control-plane-only') return 'control plane first: worker pools are paused until the end'
  return `step by step: the pools follow in each${topology === 'usual' ? '' : ` (${topology})`}`
}

/** Platform and operator in the order in which they are updated. */
function pathLines(plan: EusPlanDocument): readonly PathLine[] {
  return plan.hops.flatMap((hop) => [
    platformLine(hop),
    ...hop.operators.map((stop) => operatorLine(hop, stop)),
  ])
}

function platformLine(hop: Hop): PathLine {
  const { minor, platform, gate, adminGates, removedApis } = hop
  return {
    what: `platform ${platform.version ?? minor}`,
    done: platform.done,
    why: platform.chosenBecause,
    time: rangeText(hop),
    under: platform.done
      ? []
      : [
          ...(platform.channel === undefined ? [] : [['channel', platform.channel] as const]),
          ['gate', gate.platform.join('; ')] as const,
          ...adminGates.map(({ name }) => ['acknowledge', name] as const),
          ...removedApis.map(
            ({ name, requests }) => ['removed API', `${name}, used ${requests} times in 24 h`] as const,
          ),
          ['takes', rangeText(hop)] as const,
        ],
  }
}

function operatorLine({ minor, gate }: Hop, stop: Hop['operators'][number]): PathLine {
  return {
    what: `virtualization ${stop.version ?? minor}`,
    done: stop.done,
    why: stop.chosenBecause,
    time: '',
    under: stop.done
      ? []
      : [
          ...(stop.channel === undefined ? [] : [['channel', stop.channel] as const]),
          ['gate', gate.operator.join('; ')] as const,
        ],
  }
}

/** With its operator, most of which are through in 15 minutes. */
function rangeText({ time: { lowSeconds, highSeconds } }: Hop): string {
  const [low, high] = [lowSeconds, highSeconds].map((seconds) => spanText(seconds * 1000))
  return `${low} to ${high}, with the operator`
}

/** What is borrowed for the window, and when it is given back. */
function keptLines(plan: EusPlanDocument): readonly (readonly [label: string, text: string])[] {
  const { pools, healthChecks, channel, mode, hops, unpauseBefore } = plan
  const pausing = pools.map(
    ({ name, machines, paused, pausedByKvup }) =>
      `${name} (${machines} ${machines === 1 ? 'node' : 'nodes'}${pausedByKvup ? ', paused by kvup' : paused ? ', paused already' : ''})`,
  )
  const checks = healthChecks.map(
    ({ kind, namespace, name }) => `${kind} ${namespace ? `${namespace}/` : ''}${name}`,
  )
  const isOpen = mode === 'control-plane-only' || hops.length > 0
  return [
    ...(isOpen ? [['VM updates', heldText(plan)] as const] : []),
    ...(pausing.length > 0
      ? [['pools', `${pausing.join(', ')} paused until the end; master never`] as const]
      : []),
    ...(checks.length > 0 ? [['health checks', `${checks.join(', ')} paused until the end`] as const] : []),
    ...(channel === undefined
      ? []
      : [['channel', `${channel.from ?? 'none'} to ${channel.to}, before the first step`] as const]),
    ...(unpauseBefore === undefined ? [] : [['unpause before', unpauseBefore.slice(0, 10)] as const]),
  ]
}

function heldText({ methods, methodsUnknown, mode }: EusPlanDocument): string {
  if (methodsUnknown) return 'paused; kvup could not read the value to restore at the end'
  if (methods.length === 0) return 'off already: nothing to pause or resume'
  const names = methods.join(', ')
  return mode === 'rolling'
    ? `${names} paused in each step and resumed after it`
    : `${names} paused, and resumed at the end`
}

const markdownWords = {
  'comes-back': 'restarts by itself',
  'stays-down': 'stays stopped: its runStrategy does not start it',
  'is-lost': 'is lost: it has no VM',
} as const

/** Each VM of a single node (night E10). */
export function outageLines({ outages = [] }: Pick<EusPlanDocument, 'outages'>): readonly string[] {
  return outages.map(({ vm, afterwards, loses = [] }) => {
    const gone = loses.length === 0 ? '' : `; loses data on ${loses.join(', ')}`
    return `down while the node reboots: ${vm}, ${markdownWords[afterwards]}${gone}`
  })
}

/** What has been reached, where nothing is left to be done. */
const whyDone = ({ pending, to }: EusPlanDocument): string | undefined =>
  pending ? undefined : `platform and operator are at ${to}, and no pool is outdated`

/** Why there is nothing to type: it is done, or it would be refused. Undefined where it may begin. */
function whyNotYet(plan: EusPlanDocument): string | undefined {
  const done = whyDone(plan)
  if (done !== undefined) return `${done}: nothing to do`
  const stops = new Set(stopsOf(plan))
  return stops.size === 0 ? undefined : `not possible now: ${[...stops].join(', ')}`
}

/** For a merge request: what stops it first, each stop with its gates, the command at the end. */
function eusPlanMarkdown(plan: EusPlanDocument): string {
  const { seal, notes, unknown, time, pending } = plan
  return [
    `# ${markdownText(headText(plan))}`,
    '',
    `${markdownText(pathText(plan))}.`,
    ...(seal ? ['', `${markdownText(sealText(seal))}.`] : []),
    '',
    ...headed('Findings', judgedFindings(plan).flatMap(findingMarkdown)),
    ...headed('Upgrade path', pathLines(plan).flatMap(markdownStops)),
    ...headed(
      'Temporary changes',
      keptLines(plan).map(([label, words]) => `- ${label}: ${markdownText(words)}`),
    ),
    ...headed('Down during the upgrade', listed(outageLines(plan))),
    ...headed('What it means for the cluster', listed(notes)),
    ...headed('Unknown', listed(unknown)),
    ...headed('Time', pending ? [markdownText(time.says)] : []),
    ...headed('Run it', endMarkdown(whyNotYet(plan), plan.next)),
  ].join('\n')
}

const listed = (sentences: readonly string[]): readonly string[] =>
  sentences.map((line) => `- ${markdownText(line)}`)

function markdownStops({ what, why, done, under }: PathLine, index: number): readonly string[] {
  const head = `${index + 1}. **${markdownText(what)}**${done ? ' (done)' : ''}: ${markdownText(why)}`
  const beneath = ' '.repeat(String(index + 1).length + 2)
  return [head, ...under.map(([label, words]) => `${beneath}- ${label}: ${markdownText(words)}`)]
}
