import type {
  Played,
  Rehearsal,
  RehearsalOutcome,
  RehearsedStage,
  RehearsedVm,
} from '../../rehearsal/rehearsal.ts'
import type { Column, Paint, Size, View } from '../printer.ts'
import { spanText } from '../../kube/duration.ts'
import { table } from '../table.ts'
import { count, wrap } from '../text.ts'
import { findingSections } from './check-report.ts'

/** The verdict first, then what kvup finds in the cluster, the stages, the VMs, and what the twin cannot show. */
export const rehearsalView: View<Rehearsal> = {
  text: (document, paint, size) => [
    ...headLines(document, { paint, size }),
    '',
    ...findingLines(
      document,
      { paint, size },
      unknownTarget(document) === undefined ? [] : ['release-unknown'],
    ),
    ...(document.stages.length > 0 ? [...table(columns, document.stages, { ...size, paint }), ''] : []),
    ...vmLines(document, size),
    ...missingLines(document, size),
    ...nextLines(document, paint),
  ],
  names: ({ to }) => [`rehearsal/${to}`],
}

interface Style {
  paint: Paint
  size: Size
}

const seconds = (whole: number): string => spanText(whole * 1000)

const verdicts: Readonly<Record<RehearsalOutcome, string>> = {
  through: 'goes through',
  degraded: 'ends degraded',
  stalls: 'stalls',
  'timed-out': 'times out',
  stops: 'stops halfway',
  blocked: 'is blocked',
}

/** What a document calls it that kvup did not write as it is `ends`. */
export const outcomeWords = (outcome: string | undefined): string =>
  new Map<string, string>(Object.entries(verdicts)).get(outcome ?? '') ?? 'ends'

const twinText = ({ nodes, running }: Rehearsal['twin']): string =>
  `${count(nodes, 'node')}, ${count(running, 'running VM')}`

/** `Rehearsal: KubeVirt v1.7.4 → v1.8.4 goes through in 1 m 30 s. KubeVirt tries to migrate 8 of 11 VMs and to evict 3; …` */
export function rehearsalSentence(document: Headline): string {
  const { product, from, to, outcome, tries = countTries(document.vms ?? []) } = document
  const tried = isInstalled(outcome) ? triesText(tries) : ''
  return `Rehearsal: ${product} ${from} → ${to} ${howItGoes(document)}${tried}`
}

/** How many VMs KubeVirt tries what with. */
export function countTries(vms: readonly Pick<RehearsedVm, 'tries'>[]): Played['tries'] {
  const many = (wanted: RehearsedVm['tries']) => vms.filter(({ tries }) => tries === wanted).length
  return {
    migrate: many('migrate'),
    evict: many('evict'),
    'evict-refused': many('evict-refused'),
    nothing: many('nothing'),
  }
}

/** An earlier kvup counted no tries. */
type Headline = Pick<Rehearsal, 'product' | 'from' | 'to'> & Timed & Partial<Pick<Rehearsal, 'tries' | 'vms'>>

/** The new version is there at its end: VMs follow. */
export const isInstalled = (outcome: RehearsalOutcome): boolean =>
  outcome === 'through' || outcome === 'degraded'

/** Whether it succeeds is nothing that a twin can tell. */
function triesText(tries: Played['tries'] | undefined): string {
  const tried = tries === undefined ? '' : triedText(tries)
  return tried === '' ? '' : ` ${tried}; ${caveat}.`
}

const caveat = 'QEMU, libvirt, storage and guests are not in the twin'

function triedText({ migrate, evict: evicted, 'evict-refused': refused, nothing }: Played['tries']): string {
  const evict = evicted + refused
  const all = count(migrate + evict + nothing, 'VM')
  if (migrate > 0)
    return `KubeVirt tries to migrate ${migrate} of ${all}${evict > 0 ? ` and to evict ${evict}` : ''}`
  return evict > 0 ? `KubeVirt tries to evict ${evict} of ${all}` : ''
}

function headLines(document: Rehearsal, { paint, size }: Style): string[] {
  const { twin, why, left, pace } = document
  const unknown = unknownTarget(document)
  const what = rehearsalSentence(document)
  return [
    document.outcome !== 'through'
      ? paint.bad(`${paint.mark.failed} ${what}`)
      : unknown === undefined
        ? paint.good(`${paint.mark.done} ${what}`)
        : paint.warn(`${paint.mark.warning} ${what}`),
    ...(unknown === undefined || document.outcome === 'blocked'
      ? []
      : [`  But ${unknown}: the twin plays any number.`]),
    ...(why
      ? [
          ...why.message.split('\n').map((line) => `  ${line.trim()}`),
          ...(why.finds ?? []).map((found) => `  KubeVirt then: ${found}`),
        ]
      : []),
    ...left.map(({ what: changed, restores }) => `  Left behind: ${changed}. ${restores} restores it.`),
    `  Played on a twin: ${twinText(twin)}. Nothing was changed in the cluster.`,
    ...(pace && pace.pullSeconds > 1
      ? [`  As in the last roll-out, a pod takes ${seconds(pace.pullSeconds)} to pull its image.`]
      : []),
  ].flatMap((line) => wrap(line, size.columns))
}

/** The sentence that the target is no release that kvup knows, whoever accepted that; undefined where it is one. */
export const unknownTarget = ({ findings = [] }: Partial<Pick<Rehearsal, 'findings'>>): string | undefined =>
  findings.find(({ id }) => id === 'release-unknown')?.summary

/** What the verdict names already is not told twice, nor what was `told` by id. */
function findingLines(
  { findings, why }: Pick<Rehearsal, 'findings' | 'why'>,
  style: Style,
  told: readonly string[],
): string[] {
  const said = why?.message ?? ''
  const { stops, others } = findingSections(
    findings.filter(
      ({ id, level }) => !told.includes(id) && (level !== 'blocker' || !said.includes(`(${id})`)),
    ),
    style,
  )
  const lines = [...stops, ...others].flatMap((line) => wrap(line, style.size.columns))
  return lines.length === 0 ? [] : [...lines, '']
}

type Timed = Pick<Played, 'outcome' | 'upgradeSeconds'> & Partial<Pick<Played, 'stages'>>

function howItGoes({ outcome, upgradeSeconds = 0, stages }: Timed): string {
  const span = seconds(upgradeSeconds)
  if (outcome === 'through' && stages?.length === 0) return 'has nothing to do.'
  return {
    through: `goes through in ${span}.`,
    degraded: `ends degraded after ${span}: the new version is installed, but not all is well.`,
    stalls: `stalls: it gives up after ${span}.`,
    'timed-out': `times out after ${span}, before it reaches its end.`,
    stops: `stops halfway, after ${span}.`,
    blocked: 'is blocked: the upgrade does not begin.',
  }[outcome]
}

const columns: readonly Column<RehearsedStage>[] = [
  { name: 'STAGE', cell: ({ name }) => name },
  { name: 'BEGINS', cell: ({ begins }) => seconds(begins) },
  { name: 'TAKES', cell: ({ takes }) => (takes === undefined ? 'does not end' : seconds(takes)) },
]

const tells = {
  evict: 'KubeVirt evicts, which shuts them down,',
  'evict-refused': 'KubeVirt tries to evict, and is refused,',
  nothing: 'KubeVirt does nothing with',
} as const

/** So many names are told. */
const toldAtMost = 5

function vmLines({ vms, outcome, vmUpdateSeconds }: Rehearsal, size: Size): string[] {
  if (vms.length === 0 || !isInstalled(outcome)) return []
  const lines = (['evict', 'evict-refused', 'nothing'] as const).flatMap((tries) => {
    const some = vms.filter((vm) => vm.tries === tries)
    if (some.length === 0) return []
    return wrap(`${tells[tries]} ${some.length} of ${count(vms.length, 'VM')}: ${named(some)}.`, size.columns)
  })
  const moved = vms.filter(({ tries }) => tries !== 'nothing')
  const old = moved.filter(({ becomes }) => becomes === 'outdated')
  const stopped = moved.filter(({ becomes }) => becomes === 'stopped')
  return [
    ...lines,
    ...(vmUpdateSeconds === undefined
      ? []
      : wrap(
          `On the twin the last attempt ends ${seconds(vmUpdateSeconds)} after the upgrade.`,
          size.columns,
        )),
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
