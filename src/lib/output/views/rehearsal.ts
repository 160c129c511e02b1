import type {
  FaultRehearsals,
  Played,
  Rehearsal,
  RehearsedFault,
  RehearsedStage,
} from '../../rehearsal/rehearsal.ts'
import type { Column, Paint, Size, View } from '../printer.ts'
import { spanText } from '../../kube/duration.ts'
import { table } from '../table.ts'
import { count, wrap } from '../text.ts'

/** The verdict first, then the stages, the VMs, and what the twin cannot show. */
export const rehearsalView: View<Rehearsal> = {
  text: (document, paint, size) => [
    ...headLines(document, { paint, size }),
    '',
    ...(document.stages.length > 0 ? [...table(columns, document.stages, { ...size, paint }), ''] : []),
    ...vmLines(document, size),
    ...missingLines(document, size),
    ...nextLines(document, paint),
  ],
  names: ({ to }) => [`rehearsal/${to}`],
}

/** A table, and a paragraph for each fault. */
export const faultRehearsalsView: View<FaultRehearsals> = {
  text: (document, paint, size) => {
    const { product, from, to, without, items, twin } = document
    const through = items.filter(({ outcome }) => outcome === 'through').length
    const faults =
      items.length === 0
        ? 'there is nothing to do'
        : `it goes through, and it goes through with ${through} of ${count(items.length, 'fault')}`
    const what = `Rehearsal of ${product} ${from} → ${to}`
    const head =
      without.outcome === 'through'
        ? paint.good(`${paint.mark.done} ${what}: ${faults}.`)
        : paint.bad(`${paint.mark.failed} ${what}: it ${verdicts[without.outcome]} without any fault.`)
    return [
      ...wrap(head, size.columns),
      ...(without.why ? wrap(`  ${without.why.message}`, size.columns) : []),
      ...wrap(`  Played on a twin: ${twinText(twin)}. Nothing was changed in the cluster.`, size.columns),
      ...(items.length > 0 ? ['', ...table(faultColumns, items, { ...size, paint })] : []),
      ...items.flatMap((item) => faultLines(item, { paint, size })),
      '',
      ...missingLines(document, size),
      ...nextLines(document, paint),
    ]
  },
  names: ({ items }) => items.map(({ fault }) => `fault/${fault}`),
}

interface Style {
  paint: Paint
  size: Size
}

const seconds = (whole: number): string => spanText(whole * 1000)

const verdicts: Readonly<Record<Played['outcome'], string>> = {
  through: 'goes through',
  stalls: 'stalls',
  blocked: 'is blocked',
}

const twinText = ({ nodes, running }: Rehearsal['twin']): string =>
  `${count(nodes, 'node')}, ${count(running, 'running VM')}`

/** `Rehearsal: KubeVirt v1.7.4 → v1.8.4 goes through in 1 m 30 s.` */
export const rehearsalSentence = (document: Pick<Rehearsal, 'product' | 'from' | 'to'> & Timed): string =>
  `Rehearsal: ${document.product} ${document.from} → ${document.to} ${howItGoes(document)}`

function headLines(document: Rehearsal, { paint, size }: Style): string[] {
  const { twin, faults, why, left, pace } = document
  const what = rehearsalSentence(document)
  const withFault = faults === undefined ? '' : `, with the fault ${faults.join(' and ')}`
  return [
    document.outcome === 'through'
      ? paint.good(`${paint.mark.done} ${what}`)
      : paint.bad(`${paint.mark.failed} ${what}`),
    ...(why
      ? [
          ...why.message.split('\n').map((line) => `  ${line.trim()}`),
          ...(why.finds ?? []).map((found) => `  KubeVirt then: ${found}`),
        ]
      : []),
    ...left.map(({ what: changed, restores }) => `  Left behind: ${changed}. ${restores} restores it.`),
    `  Played on a twin: ${twinText(twin)}${withFault}. Nothing was changed in the cluster.`,
    ...(pace && pace.pullSeconds > 1
      ? [`  As in the last roll-out, a pod takes ${seconds(pace.pullSeconds)} to pull its image.`]
      : []),
  ].flatMap((line) => wrap(line, size.columns))
}

type Timed = Pick<Played, 'outcome' | 'upgradeSeconds' | 'vmUpdateSeconds'> & Partial<Pick<Played, 'stages'>>

function howItGoes({ outcome, upgradeSeconds = 0, vmUpdateSeconds, stages }: Timed): string {
  if (outcome === 'through' && stages?.length === 0) return 'has nothing to do.'
  if (outcome === 'blocked') return 'is blocked: the upgrade does not begin.'
  if (outcome === 'stalls') return `stalls: it gives up after ${seconds(upgradeSeconds)}.`
  const vms = vmUpdateSeconds === undefined ? '' : `, and its VMs follow in ${seconds(vmUpdateSeconds)}`
  return `goes through in ${seconds(upgradeSeconds)}${vms}.`
}

const faultColumns: readonly Column<RehearsedFault>[] = [
  { name: 'FAULT', cell: ({ fault }) => fault },
  { name: 'THE UPGRADE', cell: ({ outcome }) => verdicts[outcome] },
  { name: 'ENDS AFTER', cell: ({ upgradeSeconds }) => seconds(upgradeSeconds ?? 0) },
  {
    name: 'LEFT BEHIND',
    cell: ({ left }) => (left.length === 0 ? 'nothing' : count(left.length, 'temporary change')),
  },
]

/** What others say can be long; all of it is in `-o json`. */
const messageAtMost = 240

function shortened(message: string): string {
  if (message.length <= messageAtMost) return message
  return `${message.slice(0, messageAtMost).replace(/\s+\S*$/u, '')} …`
}

function faultLines(item: RehearsedFault, { paint, size }: Style): string[] {
  const { fault, title, why, left, outcome, next } = item
  const sign = outcome === 'through' ? paint.good(paint.mark.done) : paint.bad(paint.mark.failed)
  return [
    '',
    ...wrap(`${sign} ${paint.strong(fault)}: ${title} The upgrade ${howItGoes(item)}`, size.columns),
    ...(why ? wrap(`  ${shortened(why.message)}`, size.columns) : []),
    ...(why?.finds ?? []).flatMap((sentence) => wrap(`  KubeVirt then: ${sentence}`, size.columns)),
    ...(left.length > 0
      ? wrap(`  Left behind: ${left.map(({ what }) => what).join(', ')}.`, size.columns)
      : []),
    ...next.map((line) => `  ${paint.mark.next} ${line}`),
  ]
}

const columns: readonly Column<RehearsedStage>[] = [
  { name: 'STAGE', cell: ({ name }) => name },
  { name: 'BEGINS', cell: ({ begins }) => seconds(begins) },
  { name: 'TAKES', cell: ({ takes }) => (takes === undefined ? 'does not end' : seconds(takes)) },
]

const tells = {
  migrate: 'KubeVirt tries to migrate',
  evict: 'KubeVirt evicts, which shuts them down,',
  nothing: 'KubeVirt does nothing with',
} as const

/** So many names are told. */
const toldAtMost = 5

function vmLines({ vms, outcome }: Rehearsal, size: Size): string[] {
  if (vms.length === 0 || outcome !== 'through') return []
  const lines = (['migrate', 'evict', 'nothing'] as const).flatMap((tries) => {
    const some = vms.filter((vm) => vm.tries === tries)
    if (some.length === 0) return []
    const listed = tries === 'migrate' ? '' : `: ${named(some)}`
    return wrap(`${tells[tries]} ${some.length} of ${count(vms.length, 'VM')}${listed}.`, size.columns)
  })
  const moved = vms.filter(({ tries }) => tries !== 'nothing')
  const old = moved.filter(({ becomes }) => becomes === 'outdated')
  const stopped = moved.filter(({ becomes }) => becomes === 'stopped')
  return [
    ...lines,
    ...(old.length > 0 ? wrap(`Still on the old virt-launcher then: ${named(old)}.`, size.columns) : []),
    ...(stopped.length > 0 ? wrap(`Not running then: ${named(stopped)}.`, size.columns) : []),
    '',
  ]
}

function named(vms: Rehearsal['vms']): string {
  const names = vms.slice(0, toldAtMost).map(({ namespace, name }) => `${namespace}/${name}`)
  const more = vms.length - names.length
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

const missingLines = ({ missing }: Pick<Rehearsal, 'missing'>, size: Size): string[] => [
  'Not in the twin, and so not shown:',
  ...missing.flatMap((one) => wrap(`  ${one}`, size.columns)),
]

const nextLines = ({ next }: Pick<Rehearsal, 'next'>, paint: Paint): string[] =>
  next.length === 0 ? [] : ['', ...next.map((line) => `${paint.mark.next} ${line}`)]
