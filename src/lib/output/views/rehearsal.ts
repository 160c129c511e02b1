import type { FaultRehearsals, Played, Rehearsal, RehearsedStage } from '../../rehearsal/rehearsal.ts'
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
    '',
    ...nextLines(document, paint),
  ],
  names: ({ to }) => [`rehearsal/${to}`],
}

/** A paragraph for each fault. */
export const faultRehearsalsView: View<FaultRehearsals> = {
  text: (document, paint, size) => {
    const { from, to, without, items, twin } = document
    const through = items.filter(({ outcome }) => outcome === 'through').length
    const faults = `it goes through with ${through} of ${count(items.length, 'fault')}`
    const what = `Rehearsal of KubeVirt ${from} → ${to}`
    const head =
      without.outcome === 'through'
        ? paint.good(`${paint.mark.done} ${what}: it goes through, and ${faults}.`)
        : paint.bad(`${paint.mark.failed} ${what}: it ${verdicts[without.outcome]} without any fault.`)
    return [
      ...wrap(head, size.columns),
      ...(without.why ? wrap(`  ${without.why.message}`, size.columns) : []),
      ...wrap(`  Played on a twin: ${twinText(twin)}. Nothing was changed in the cluster.`, size.columns),
      ...items.flatMap((item) => faultLines(item, { paint, size })),
      '',
      ...missingLines(document, size),
      '',
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

function headLines(document: Rehearsal, { paint, size }: Style): string[] {
  const { from, to, twin, faults, why, left, pace } = document
  const what = `Rehearsal: KubeVirt ${from} → ${to} ${howItGoes(document)}`
  const withFault = faults === undefined ? '' : `, with the fault ${faults.join(' and ')}`
  return [
    document.outcome === 'through'
      ? paint.good(`${paint.mark.done} ${what}`)
      : paint.bad(`${paint.mark.failed} ${what}`),
    ...(why ? [`  ${why.message}`] : []),
    ...left.map(({ what: changed }) => `  Left behind: ${changed}.`),
    `  Played on a twin: ${twinText(twin)}${withFault}. Nothing was changed in the cluster.`,
    ...(pace && pace.pullSeconds > 1
      ? [`  As in the last roll-out, a pod takes ${seconds(pace.pullSeconds)} to pull its image.`]
      : []),
  ].flatMap((line) => wrap(line, size.columns))
}

type Timed = Pick<Played, 'outcome' | 'upgradeSeconds' | 'vmUpdateSeconds'>

function howItGoes({ outcome, upgradeSeconds = 0, vmUpdateSeconds }: Timed): string {
  if (outcome === 'blocked') return 'is blocked: the upgrade does not begin.'
  if (outcome === 'stalls') return `stalls: it gives up after ${seconds(upgradeSeconds)}.`
  const vms = vmUpdateSeconds === undefined ? '' : `, and its VMs follow in ${seconds(vmUpdateSeconds)}`
  return `goes through in ${seconds(upgradeSeconds)}${vms}.`
}

function faultLines(item: FaultRehearsals['items'][number], { paint, size }: Style): string[] {
  const { fault, title, why, left, outcome } = item
  const sign = outcome === 'through' ? paint.good(paint.mark.done) : paint.bad(paint.mark.failed)
  return [
    '',
    ...wrap(`${sign} ${paint.strong(fault)}: ${title} The upgrade ${howItGoes(item)}`, size.columns),
    ...(why ? wrap(`  ${why.message}`, size.columns) : []),
    ...left.flatMap(({ what }) => wrap(`  Left behind: ${what}.`, size.columns)),
    ...(why?.remedy ?? []).slice(0, 2).map((line) => `  ${paint.mark.next} ${line}`),
  ]
}

const columns: readonly Column<RehearsedStage>[] = [
  { name: 'STAGE', cell: ({ name, hop }) => (hop === undefined ? name : `${hop} ${name}`) },
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
  next.map((line) => `${paint.mark.next} ${line}`)
