import type { Cause } from '../../kubevirt/diagnosis/pod-trouble.ts'
import type { Doubt } from '../../kubevirt/rollout-status.ts'
import type { StatusReport } from '../../status/status-report.ts'
import type { Override } from '../../engine/journal.ts'
import { ageAt } from '../age.ts'
import type { Column, Document, Paint, Size, Tone, View } from '../printer.ts'
import { brief, count, wrap } from '../text.ts'
import { holderText, overriddenLines, signedTroubles, vmTroubleLines } from './report-lines.ts'
import type { ShownHolder } from '../../kubevirt/lease-holders.ts'
import type { ComponentStatus } from '../../kubevirt/component-status.ts'
import { table } from '../table.ts'
import type { LayerVerdict, TitledLayer } from '../../openshift/olm-layers.ts'
import type { Layers } from '../../openshift/layers.ts'
import type { Manager } from '../../kubevirt/installation.ts'
import type { overrideId } from '../../vms/update-methods.ts'
import { noMethodsText } from '../kvup-words.ts'
import { formatDuration } from '../../kube/duration.ts'
import type { VmTroubles } from '../../kubevirt/diagnosis/vm-troubles.ts'

export interface StatusDocument extends Document, StatusReport {
  kind: 'Status'
  /** What kvup changed for a time and has to restore, where there is anything. */
  overrides?: OpenOverrides
  /** In words, where this machine's clock is not the cluster's. */
  clock?: string
  /** Who has kvup's lock now. */
  running?: ShownHolder
  /** Of a folder of dumps: the moment that is judged (RFC 3339), and the files that hold nothing of a cluster. */
  saved?: { asOf: string; passedOver?: readonly { file: string; why: string }[] }
  /** Dumps of other moments in that folder, the newest first, then of other clusters: each judged for itself. */
  earlier?: readonly EarlierDump[]
}

/** What a dump of another moment says, or why it cannot be judged. */
export interface EarlierDump extends Partial<Layers> {
  /** RFC 3339. */
  asOf: string
  files: readonly string[]
  /** It is of another cluster than what is judged first. */
  otherCluster?: true
  why?: string
}

/** `settings`: absent where the journal could not be read. `vms`: how many have what `kvup workloads unblock` set; `restore`: the line that restores them. */
interface OpenOverrides {
  settings?: readonly Override[]
  vms?: number
  restore?: string
}

/** Below this many columns a label stands above its text. */
const roomForLabels = 60

export const statusView: View<StatusDocument> = {
  text: (status, paint, size) => {
    const layers = layerLines(status, paint, { entry: entryFor(size), wide: size.wide })
    const rest = kubeVirtLines(status, paint, size)
    const between = layers.length > 0 && rest.length > 0 ? [''] : []
    const lines = [...layers, ...between, ...rest, ...folderLines(status, paint, size)]
    return lines.flatMap((line) => wrap(line, size.columns))
  },
  names: ({ installation: found, idleOperator, layers = [] }) => {
    if (found) return [`kubevirt/${found.name}`]
    const [layer] = layers.flatMap(({ object }) => (object === undefined ? [] : [object]))
    return [idleOperator ? `deployment/${idleOperator.name}` : (layer ?? 'deployment/virt-operator')]
  },
}

/** Which moment was judged, what was not read, and what the dumps of other moments say. */
function folderLines({ saved, earlier = [] }: StatusDocument, paint: Paint, size: Size): string[] {
  if (saved === undefined || (earlier.length === 0 && saved.passedOver === undefined)) return []
  const { asOf, passedOver = [] } = saved
  const shown = passedOver.slice(0, mostPassedOver).map(({ file, why }) => `passed over ${file}: ${why}`)
  const rest = passedOver.length - shown.length
  return [
    '',
    `as of ${asOf}`,
    ...[...shown, ...(rest > 0 ? [`passed over ${rest} more`] : [])].map((line) => paint.dim(brief(line))),
    ...earlier.slice(0, mostDumps).flatMap((dump) => dumpLines(dump, paint, size)),
    ...(earlier.length > mostDumps
      ? ['', `and ${earlier.length - mostDumps} more dumps in the same folder (-o json)`]
      : []),
  ]
}

const dumpLines = (
  dump: NonNullable<StatusDocument['earlier']>[number],
  paint: Paint,
  size: Size,
): string[] => [
  '',
  `as of ${dump.asOf}, ${dump.otherCluster ? 'a dump of another cluster' : 'another dump'} in the same folder (${someFiles(dump.files)}):`,
  ...(dump.why === undefined ? [] : [paint.warn(brief(dump.why))]),
  ...layerLines({ ...dump, takenAt: dump.asOf }, paint, { entry: entryFor(size), wide: size.wide }),
]

const mostPassedOver = 3
const mostDumps = 3

function someFiles(files: readonly string[]): string {
  const [first = '', ...rest] = files
  return rest.length === 0 ? first : `${first} and ${rest.length} more`
}

const entryFor = ({ columns }: Size): Entry => (columns < roomForLabels ? above : beside)

/** Nothing where the layers above are all there is. */
function kubeVirtLines(status: StatusDocument, paint: Paint, size: Size): string[] {
  if (status.installation) return installed(status, paint, size)
  return status.idleOperator || !status.layers ? idle(status, paint) : []
}

function installed(status: StatusDocument, paint: Paint, size: Size): string[] {
  const entry = entryFor(size)
  return [
    headline(status, paint),
    ...(status.waitingFor ? entry('waiting for', brief(status.waitingFor)) : []),
    ...(status.why ?? []).flatMap((cause) => causeLines(cause, status, { paint, entry })),
    ...entry('managed by', managedBy(status)),
    ...entry('operator', operatorText(status)),
    ...(status.running ? entry('kvup', holderText(status.running, status.takenAt)) : []),
    ...overriddenLines(status.overrides?.settings ?? [], { paint, entry, takenAt: status.takenAt }),
    ...overrideRows(status, { paint, entry }),
    ...(status.clock ? entry('clock', paint.warn(status.clock)) : []),
    ...(status.doubts ?? []).flatMap((doubt) => doubtLines(doubt, { paint, entry })),
    ...(status.remarks ?? []).flatMap((remark) => entry('not judged', paint.warn(brief(remark)))),
    ...(size.wide ? (status.harmlessMessages ?? []) : []).flatMap((text) => entry('known', paint.dim(text))),
    '',
    ...componentLines(status, paint, size),
    '',
    ...workloadLines(status, paint).flatMap((line, index) => entry(index === 0 ? 'workloads' : '', line)),
  ]
}

const beside: Entry = (label, text) => [`${label.padEnd(15)} ${text}`]
const above: Entry = (label, text) => [...(label === '' ? [] : [label]), `  ${text}`]

interface LineStyle {
  paint: Paint
  entry: Entry
}

function overrideRows(
  { overrides: { vms = 0, restore } = {} }: StatusDocument,
  { paint, entry }: LineStyle,
): string[] {
  if (vms === 0 || restore === undefined) return []
  const whose = vms === 1 ? '1 VM has settings' : `${vms} VMs have settings`
  return [
    ...entry('borrowed', paint.warn(`${whose} that kvup workloads unblock lent`)),
    ...entry('', paint.dim(`${paint.mark.next} ${restore}     # gives them back`)),
    ...entry('', paint.dim(`${paint.mark.next} kvup history     # names them`)),
  ]
}

/** What is expected beyond KubeVirt's own word, below it: the verdict does not depend on it. */
function doubtLines({ sentence, commands: [first] }: Doubt, { paint, entry }: LineStyle): string[] {
  const lines = entry('note', paint.warn(brief(sentence)))
  if (first !== undefined) lines.push(...entry('', paint.dim(`${paint.mark.next} ${first}`)))
  return lines
}

function idle({ idleOperator: operator, next = [] }: StatusDocument, paint: Paint): string[] {
  const parts = [
    `virt-operator ${operator?.version ?? ''}`.trim(),
    `namespace ${operator?.namespace ?? ''}`,
    paint.warn('no KubeVirt resource'),
  ]
  return [
    parts.join(` ${paint.mark.dot} `),
    'It does nothing until that resource exists.',
    ...next.map((command) => `${paint.mark.next} ${command}`),
  ]
}

const tones: Record<NonNullable<StatusReport['verdict']>, Tone> = {
  Healthy: 'good',
  Updating: 'strong',
  Stalled: 'bad',
  Degraded: 'bad',
}

/** What was not seen is never good. */
const partlyHealthy = 'healthy, but not all judged'

function headline(status: StatusDocument, paint: Paint): string {
  const verdict = status.verdict ?? 'Updating'
  const age = status.since ? `, for at least ${ageAt(status.since, status.takenAt)}` : ''
  const parts = [
    paint.strong(`KubeVirt ${versions(status, paint)}`),
    `namespace ${status.installation?.namespace ?? ''}`,
    `${status.partly ? paint.warn(partlyHealthy) : paint[tones[verdict]](verdict.toLowerCase())}${age}`,
    ...(status.workloads.problems ?? []).map((text) => paint.warn(text)),
  ]
  return parts.join(` ${paint.mark.dot} `)
}

function versions({ observed, target }: StatusDocument, paint: Paint): string {
  const to = target?.version ?? 'of no version yet'
  return observed?.version === undefined || observed.version === to
    ? to
    : `${observed.version} ${paint.mark.next} ${to}`
}

function causeLines(cause: Cause, { takenAt }: StatusDocument, { paint, entry }: LineStyle): string[] {
  const age = cause.since ? `, for ${ageAt(cause.since, takenAt)}` : ''
  return [
    ...entry('why', paint.bad(`${brief(cause.sentence)}${age}`)),
    ...cause.commands.flatMap((line) => entry('', paint.dim(`${paint.mark.next} ${line}`))),
  ]
}

function operatorText({ operator }: StatusDocument): string {
  if (!operator) return 'not found'
  const leads = operator.leads === false ? ', a pod of the new template does not lead yet' : ''
  return `${operator.version ?? operator.image}, ${operator.ready} of ${operator.desired} ready${leads}`
}

/** A text behind its label, or below it where there is little room; an empty label goes on with the one before. */
export type Entry = (label: string, text: string) => string[]

type Components = Pick<StatusReport, 'components' | 'verdict'>

/** `settings`: absent where the journal could not be read. `vms`: how many have what `kvup workloads unblock` set; `restore`: the line that restores them. */
interface OpenOverrides {
  settings?: readonly Override[]
  vms?: number
  restore?: string
}

/** Below this many columns each component has lines of its own. */
const roomForTable = 60

/** The components in their order: a table, or below each name what the table would say. */
function componentLines({ components = [], verdict }: Components, paint: Paint, size: Size): string[] {
  if (size.columns >= roomForTable) return table(componentColumns(verdict), components, { ...size, paint })
  return components.flatMap((component) => [component.name, `  ${inWords(component, verdict, paint)}`])
}

function inWords(component: ComponentStatus, verdict: Components['verdict'], paint: Paint): string {
  const { updated, ready, desired, version, state } = component
  const tone = stateTones[state]
  const said = stateText(component)
  return [
    `${updated}/${desired} updated`,
    `${ready}/${desired} ready`,
    ...(version === undefined ? [] : [version]),
    ...(verdict === 'Healthy' ? [] : [tone === undefined ? said : paint[tone](said)]),
  ].join(', ')
}

function componentColumns(verdict: Components['verdict']): Column<ComponentStatus>[] {
  return [
    { name: 'COMPONENT', cell: ({ name }) => name },
    { name: 'UPDATED', cell: ({ updated, desired }) => `${updated}/${desired}` },
    { name: 'READY', cell: ({ ready, desired }) => `${ready}/${desired}` },
    { name: 'VERSION', cell: ({ version }) => version },
    ...(verdict === 'Healthy' ? [] : [stateColumn]),
    { name: 'IMAGE', cell: ({ image }) => image, wide: true },
  ]
}

const stateTones: Partial<Record<ComponentStatus['state'], Tone>> = {
  current: 'good',
  stalled: 'bad',
  absent: 'warn',
}

const stateColumn: Column<ComponentStatus> = {
  name: 'STATE',
  holds: 'text',
  cell: stateText,
  tone: ({ state }) => stateTones[state],
}

function stateText({ state, rolled, detail }: ComponentStatus): string {
  const word = rolled && state === 'rolling' ? 'not ready' : state
  return detail ? `${word}: ${detail}` : word
}

type Shown = Partial<Layers> & { takenAt: string }

/** The verdict over all, and a line per layer; of those that are not settled what they wait for. Nothing on a plain cluster. */
function layerLines(shown: Shown, paint: Paint, how: Pick<LayerStyle, 'entry' | 'wide'>): string[] {
  const { overall, layers, takenAt } = shown
  if (!overall || !layers) return []
  return [
    layerHeadline(shown, paint),
    ...layers.flatMap((layer) => {
      const lines = linesOf(layer, { takenAt, paint, ...how })
      return layer.layer === 'platform' && shown.platform
        ? lines.concat(platformLines(shown.platform, { paint, ...how }))
        : lines
    }),
  ]
}

/** What fires and is critical always; the last update, what is offered and the empty pools for who wants to know more. */
function platformLines(
  platform: NonNullable<Layers['platform']>,
  { paint, entry, wide }: Omit<LayerStyle, 'takenAt'>,
): string[] {
  const { last, offers, pools = [], alerts = [], alertsNotChecked } = platform
  const critical = [
    ...new Set(alerts.filter(({ severity }) => severity === 'critical').map(({ name }) => name)),
  ]
  const affecting = alertsOnUpdate(platform)
  const isBusy = platform.state !== 'idle' || pools.some(({ machines, updated }) => updated < machines)
  const empty = pools.filter(({ machines }) => machines === 0).map(({ name }) => name)
  const more = [
    ...(last
      ? [
          `the last update, to ${last.version}, was completed at ${last.completed} and took ${formatDuration(last.tookSeconds * 1000)}`,
        ]
      : []),
    ...(offers ? offerLines(offers) : []),
    ...(empty.length > 0 ? [`pools without machines: ${empty.join(', ')}`] : []),
  ]
  const said = [
    ...(critical.length > 0 ? [`critical alerts fire: ${firstOf(critical)}`] : []),
    ...(affecting.length > 0 && (isBusy || wide)
      ? [`alerts that affect the update: ${firstOf(affecting)}`]
      : []),
    ...(alertsNotChecked === undefined ? [] : [`alerts not checked: ${alertsNotChecked}`]),
  ]
  return [
    ...said.flatMap((line) => entry('', paint.warn(brief(line)))),
    ...(wide ? more.flatMap((line) => entry('', paint.dim(brief(line)))) : []),
  ]
}

const firstOf = (names: readonly string[]): string =>
  `${names.slice(0, 3).join(', ')}${names.length > 3 ? ` and ${names.length - 3} more` : ''}`

/** Warnings that came up since the update began, or are about drains and the nodes. */
function alertsOnUpdate({ findings, update }: NonNullable<Layers['platform']>): readonly string[] {
  const began = Date.parse(update?.started ?? '')
  const names = findings.flatMap(({ severity, impact, objects: [object = ''], since }) => {
    const isNew = since !== undefined && Date.parse(since) > began
    const isTold = severity === 'warning' && (impact === 'update-speed' || isNew)
    return isTold && object.startsWith('alert/') ? [object.slice('alert/'.length)] : []
  })
  return [...new Set(names)]
}

type Offers = NonNullable<NonNullable<Layers['platform']>['offers']>

const exposures: Record<Offers['conditional'][number]['exposure'], string> = {
  exposed: 'which this cluster is exposed to',
  'not-exposed': 'which this cluster is not exposed to',
  unknown: 'and whether they apply here is not known',
}

/** The newest two of each kind, and counts. */
function offerLines({ recommended, conditional, moreConditional, byRisk }: Offers): string[] {
  const more = recommended.length - 2
  const risks = Object.entries(byRisk).map(([risk, releases]) => `${risk} in ${releases}`)
  return [
    ...(recommended.length > 0
      ? [`updates in this minor: ${recommended.slice(0, 2).join(', ')}${more > 0 ? ` and ${more} more` : ''}`]
      : []),
    ...conditional.map(
      ({ version, risks: names, exposure }) =>
        `${version} has risks (${names.join(', ')}), ${exposures[exposure]}`,
    ),
    ...(moreConditional > 0 ? [`and ${moreConditional} more with risks: ${risks.join(', ')}`] : []),
  ]
}

const layerTones: Record<LayerVerdict, Tone> = {
  Healthy: 'good',
  Updating: 'strong',
  Waiting: 'warn',
  Stalled: 'bad',
  Degraded: 'bad',
  Unknown: 'dim',
}

const marks: Record<LayerVerdict, keyof Paint['mark']> = {
  Healthy: 'done',
  Updating: 'running',
  Waiting: 'warning',
  Stalled: 'failed',
  Degraded: 'failed',
  Unknown: 'dot',
}

function layerHeadline({ overall, window }: Shown, paint: Paint): string {
  const { verdict = 'Healthy', because, notJudged = [] } = overall ?? {}
  const isPartly = verdict === 'Healthy' && notJudged.length > 0
  const parts = [
    paint.strong('cluster'),
    isPartly
      ? paint.warn(`${partlyHealthy} (${notJudged.join(', ')})`)
      : paint[layerTones[verdict]](verdict.toLowerCase()),
    ...(window ? [windowText(window)] : []),
    ...(because === undefined ? [] : [brief(because)]),
  ]
  return parts.join(` ${paint.mark.dot} `)
}

function windowText({ from, at }: NonNullable<Layers['window']>): string {
  const where = [from && `from ${from}`, at && `now at ${at}`].filter(Boolean).join(', ')
  return `during an EUS upgrade${where === '' ? '' : ` (${where})`}`
}

interface LayerStyle {
  takenAt: string
  paint: Paint
  entry: Entry
  /** More than what matters now. */
  wide: boolean
}

function linesOf(layer: TitledLayer, { takenAt, paint, entry, wide }: LayerStyle): string[] {
  const { title, verdict, partly, says, since, waitsFor, expected, notes = [], help = [], channels } = layer
  // What is as it should be is in nobody's colour of alarm.
  const tone = partly ? 'warn' : expected === undefined ? layerTones[verdict] : 'strong'
  const word = partly ? partlyHealthy : verdict === 'Unknown' ? 'not known' : verdict.toLowerCase()
  const mark = partly ? 'warning' : marks[verdict]
  const age = since === undefined ? '' : `, for ${ageAt(since, takenAt)}`
  return [
    ...entry(title, `${paint[tone](`${paint.mark[mark]} ${word}`)}: ${brief(says)}${age}`),
    ...(expected === undefined ? [] : entry('', `expected: ${expected}`)),
    ...(waitsFor ? entry('', `waits for ${brief(waitsFor)}`) : []),
    ...notes.flatMap((note) => entry('', paint.dim(brief(note)))),
    ...(wide && channels ? entry('', paint.dim(`channels: ${channels.map(layerWords).join(', ')}`)) : []),
    ...help.flatMap((line) => entry('', paint.dim(`${paint.mark.next} ${line}`))),
  ]
}

const layerWords = ({ name, newest }: NonNullable<TitledLayer['channels']>[number]): string =>
  newest === undefined ? name : `${name} (${newest})`

const words: Record<Manager['kind'], string> = {
  plain: 'plain manifests',
  hyperconverged: 'HyperConverged',
  olm: 'OLM',
  helm: 'Helm',
  gitops: 'GitOps',
}

/** Who puts the KubeVirt back when it is edited, and where its images come from, in one line. */
function managedBy({ installation: found }: Pick<StatusReport, 'installation'>): string {
  if (!found) return 'nobody'
  const { kind, owner, name, namespace } = found.manager
  const whole = [namespace, name].filter(Boolean).join('/')
  const who = owner && owner !== words[kind] ? `${words[kind]}, ${owner}` : words[kind]
  return `${who}${whole ? ` ${whole}` : ''} (${source(found)})`
}

function source({
  imageTag,
  imageRegistry,
  pinnedImages,
}: NonNullable<StatusReport['installation']>): string {
  if (pinnedImages.length > 0) return `${pinnedImages.length} images fixed by the operator's environment`
  if (imageTag) return `imageTag ${imageTag}${imageRegistry ? ` of ${imageRegistry}` : ''}`
  return imageRegistry
    ? `imageRegistry ${imageRegistry}, follows its operator`
    : 'no imageTag: follows its operator'
}

/** The journal's name of the borrowed methods. */
const methodsOverride: typeof overrideId = 'workload-updates'

/** How many instances there are, how many of them run an old virt-launcher, and what shows which. */
export function workloadLines(
  { workloads, verdict, installation, overrides }: StatusReport & { overrides?: OpenOverrides },
  paint: Pick<Paint, 'mark'>,
): readonly string[] {
  const { instances, outdated, unknownMethods, hollowNodes } = workloads
  const unknown = unknownMethods
    ? [
        `${paint.mark.warning} workloadUpdateMethods has ${unknownMethods.join(', ')}, which KubeVirt does not know`,
      ]
    : []
  const troubles = [
    ...signedTroubles(workloads.troubled, paint.mark.warning, paint.mark.next),
    ...(hollowNodes
      ? [
          `${paint.mark.warning} ${hollowNodes.sentence}`,
          ...hollowNodes.remedy.map((line) => `  ${paint.mark.next} ${line}`),
        ]
      : []),
  ]
  if (instances === 0) return [count(0, 'instance'), ...unknown, ...troubles]
  const behind = outdated.labelled ?? outdated.reported
  const all = instances === undefined ? 'not readable' : count(instances, 'instance')
  const paused = overrides?.settings?.some(({ id }) => id === methodsOverride) ?? false
  const why = behind && installation?.workloadUpdateMethods.length === 0 ? ` (${noMethodsText(paused)})` : ''
  return [
    `${all}${lateText(behind)}${why}`,
    ...unknown,
    ...troubles,
    ...(behind && verdict === 'Healthy' ? [`${paint.mark.next} kvup workloads outdated`] : []),
  ]
}

function lateText(behind: number | undefined): string {
  if (behind === undefined) return ', outdated: not known'
  return `, ${behind === 0 ? 'none' : behind} outdated`
}

export interface WaitDocument extends Document {
  kind: 'Wait'
  /** The condition. */
  for: string
  met: boolean
  verdict?: NonNullable<StatusReport['verdict']>
  /** Observed. */
  version?: string
  tookSeconds: number
  /** The first thing that is missing. */
  waitingFor?: string
  why?: readonly Cause[]
  /** VMs that should run and do not; absent where there is none. */
  vms?: VmTroubles
  /** What could not be seen and was therefore not judged. */
  remarks?: readonly string[]
}

export const waitView: View<WaitDocument> = {
  text: ({ for: condition, met, version, verdict, tookSeconds, vms, remarks = [] }, paint, size) => [
    ...wrap(
      [
        met ? paint.good(`${condition} holds`) : paint.bad(`${condition} does not hold`),
        ...kubeVirtWords({ verdict, version, remarks }),
        `after ${formatDuration(tookSeconds * 1000)}`,
      ].join(` ${paint.mark.dot} `),
      size.columns,
    ),
    ...remarks.flatMap((remark) => wrap(paint.warn(`${paint.mark.warning} ${brief(remark)}`), size.columns)),
    ...(vms ? vmTroubleLines(vms).flatMap((line) => wrap(line, size.columns)) : []),
  ],
  names: ({ for: condition }) => [`condition/${condition}`],
}

type WaitedKubeVirt = { [Part in 'verdict' | 'version' | 'remarks']: WaitDocument[Part] | undefined }

/** Nothing where KubeVirt was not asked about, as for the pools. */
function kubeVirtWords({ verdict, version, remarks = [] }: WaitedKubeVirt): string[] {
  if (verdict === undefined) return []
  const isPartly = verdict === 'Healthy' && remarks.length > 0
  return [`KubeVirt ${version ?? 'of no version yet'}`, isPartly ? partlyHealthy : verdict.toLowerCase()]
}
