import type { Cause } from '../../kubevirt/diagnosis/pod-trouble.ts'
import type { Doubt } from '../../kubevirt/rollout-status.ts'
import type { StatusReport } from '../../status/status-report.ts'
import type { Override } from '../../engine/journal.ts'
import { isOfWindow } from '../../engine/overrides.ts'
import { commandOf } from '../../kube/shell-line.ts'
import { spanSince } from '../age.ts'
import type { Column, Document, Paint, Size, Tone, View } from '../printer.ts'
import { brief, wrap, helpLine } from '../text.ts'
import type { ClusterState } from '../../status/cluster-state.ts'
import { headAndDetails, stateLines } from './cluster-state.ts'
import { overriddenLines, signedTroubles, vmTroubleLines } from './report-lines.ts'
import type { ShownHolder } from '../../kubevirt/lease-holders.ts'
import type { ComponentStatus } from '../../kubevirt/component-status.ts'
import { table } from '../table.ts'
import type { LayerVerdict, TitledLayer } from '../../openshift/olm-layers.ts'
import type { Layers } from '../../openshift/layers.ts'
import type { Manager } from '../../kubevirt/installation.ts'
import type { overrideId } from '../../vms/update-methods.ts'
import { noMethodsText } from '../kvup-words.ts'
import { spanText } from '../../kube/duration.ts'
import type { VmTroubles } from '../../kubevirt/diagnosis/vm-troubles.ts'

export interface StatusDocument extends Document, StatusReport {
  kind: 'Status'
  /** Where the cluster stands, all considered, and what to type. */
  state: ClusterState
  /** What kvup changed for a time and has to restore, where there is anything. */
  overrides?: OpenOverrides
  /** In words, where this machine's clock is not the cluster's. */
  clock?: string
  /** Who has kvup's lock now. */
  running?: ShownHolder
  /** Of a folder: the moment that is judged (RFC 3339), and the files that hold nothing of a cluster. */
  saved?: { asOf: string; passedOver?: readonly { file: string; why: string }[] }
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
    const [, ...details] = [
      ...apart(layerLines(status, paint, { entry: entryFor(size), wide: size.wide })),
      ...apart(kubeVirtLines(status, paint, size)),
      ...folderLines(status, paint),
    ].flatMap((line) => wrap(line, size.columns))
    return headAndDetails(stateLines(status.state, paint, size), details, size)
  },
  names: ({ installation: found, idleOperator, layers = [] }) => {
    if (found) return [`kubevirt/${found.name}`]
    const [layer] = layers.flatMap(({ object }) => (object === undefined ? [] : [object]))
    return [idleOperator ? `deployment/${idleOperator.name}` : (layer ?? 'deployment/virt-operator')]
  },
}

const apart = (part: readonly string[]): readonly string[] => (part.length === 0 ? [] : ['', ...part])

/** Which moment was judged, and what was not read. */
function folderLines({ saved }: StatusDocument, paint: Paint): string[] {
  if (saved?.passedOver === undefined) return []
  const { asOf, passedOver } = saved
  const shown = passedOver.slice(0, mostPassedOver).map(({ file, why }) => `passed over ${file}: ${why}`)
  const rest = passedOver.length - shown.length
  const lines = [...shown, ...(rest > 0 ? [`passed over ${rest} more`] : [])]
  return ['', `as of ${asOf}`, ...lines.map((line) => paint.dim(brief(line)))]
}

const mostPassedOver = 3

const entryFor = ({ columns }: Size): Entry => (columns < roomForLabels ? above : beside)

/** What the state does not say: further causes, who manages it, what is changed for a time, the components. */
function kubeVirtLines(status: StatusDocument, paint: Paint, size: Size): string[] {
  if (!status.installation) return []
  const style = { paint, entry: entryFor(size) }
  const rows = detailRows(status, style, size)
  const vms = troubleLines(status, paint)
  const parts = [componentLines(status, paint, size), rows, vms].filter(({ length }) => length > 0)
  return parts.flatMap((part, index) => (index === 0 ? part : apart(part)))
}

/** Who manages it, and its operator, are told where that is not as everywhere. */
function detailRows(status: StatusDocument, style: LineStyle, { wide }: Size): string[] {
  const { paint, entry } = style
  const { installation, overrides, takenAt, doubts = [], remarks = [], harmlessMessages = [] } = status
  return [
    ...causeRows(status, style),
    ...(wide || installation?.manager.kind !== 'plain' ? entry('managed by', managedBy(status)) : []),
    ...(wide || isOperatorTold(status) ? entry('operator', operatorText(status)) : []),
    ...(wide && installation ? entry('namespace', installation.namespace) : []),
    ...overriddenLines((overrides?.settings ?? []).filter(isUntold), { paint, entry, takenAt }),
    ...overrideRows(status, style),
    ...(status.clock ? entry('clock', paint.warn(status.clock)) : []),
    ...doubts.flatMap((doubt) => doubtLines(doubt, style)),
    ...remarks.flatMap((remark) => entry('not checked', paint.warn(brief(remark)))),
    ...(wide ? harmlessMessages : []).flatMap((text) => entry('known', paint.dim(text))),
  ]
}

/** Paused updates are told by the state, and what resumes them. */
const isUntold = ({ id, procedure }: Override): boolean => id !== methodsOverride || isOfWindow({ procedure })

function isOperatorTold({ operator, observed, remarks = [] }: StatusDocument): boolean {
  // What was not read is told among the remarks, and was not looked for.
  if (!operator) return !remarks.some((remark) => remark.startsWith('operators are not checked'))
  return (
    operator.version !== observed?.version || operator.ready < operator.desired || operator.leads === false
  )
}

/** The first cause is the headline's, and its first command the next line: here stands what else was found. */
function causeRows(
  { why = [], takenAt, state, waitingFor }: StatusDocument,
  { paint, entry }: LineStyle,
): string[] {
  const told = [state.headline, ...state.why].join('\n')
  const { next, afterwards, instead, back, details } = state
  const typed = new Set([next, afterwards, instead, back, details].map((line) => commandOf(line ?? '')))
  const isWaitTold = waitingFor === undefined || why.length > 0 || told.includes(waitingFor)
  return [
    ...(isWaitTold ? [] : entry('waiting for', brief(waitingFor))),
    ...why.flatMap((cause) => {
      const age = cause.since ? `, for ${spanSince(cause.since, takenAt)}` : ''
      const lines = cause.commands.filter((line) => !typed.has(commandOf(line)))
      const [fact = cause.sentence] = cause.sentence.split('; ')
      const isTold = told.includes(fact)
      const sentence = isTold ? [] : entry('why', paint.bad(`${brief(cause.sentence)}${age}`))
      return [
        ...sentence,
        ...lines.flatMap((line, index) =>
          entry(isTold && index === 0 ? 'also' : '', paint.dim(helpLine(line, paint))),
        ),
      ]
    }),
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
    ...entry('temporary', paint.warn(`${whose} that kvup workloads unblock changed`)),
    ...entry('', paint.dim(`${paint.mark.next} ${restore}     # restores them`)),
    ...entry('', paint.dim(`${paint.mark.next} kvup history     # names them`)),
  ]
}

/** What is expected beyond KubeVirt's own word, below it: the verdict does not depend on it. */
function doubtLines({ sentence, commands: [first] }: Doubt, { paint, entry }: LineStyle): string[] {
  const lines = entry('note', paint.warn(brief(sentence)))
  if (first !== undefined) lines.push(...entry('', paint.dim(helpLine(first, paint))))
  return lines
}

/** What was not seen is never good. */
const partlyHealthy = 'healthy, but not everything was checked'

function operatorText(status: StatusDocument): string {
  const { operator } = status
  if (!operator) return isOperatorTold(status) ? 'not found' : 'not checked'
  const leads = operator.leads === false ? ', a pod of the new template does not lead yet' : ''
  return `${operator.version ?? operator.image}, ${operator.ready} of ${operator.desired} ready${leads}`
}

/** A text behind its label, or below it where there is little room; an empty label goes on with the one before. */
export type Entry = (label: string, text: string) => string[]

type Components = Pick<StatusReport, 'components' | 'verdict'>

/** Below this many columns each component has lines of its own. */
const roomForTable = 60

/** The components in their order: a table, or below each name what the table would say. */
function componentLines({ components = [], verdict }: Components, paint: Paint, size: Size): string[] {
  if (components.length === 0) return []
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
  if (state === 'waiting' && detail) return detail
  const word = rolled && state === 'rolling' ? 'not ready' : state
  return detail ? `${word}: ${detail}` : word
}

type Shown = Partial<Layers> & { takenAt: string }

/** A line per layer that is not well, and what it waits for; with `wide` of each. Nothing on a plain cluster. */
function layerLines(shown: Shown, paint: Paint, how: Pick<LayerStyle, 'entry' | 'wide'>): string[] {
  const { overall, layers, takenAt } = shown
  if (!overall || !layers) return []
  return layers.flatMap((layer) => {
    const isWell = layer.verdict === 'Healthy' && layer.partly !== true && (layer.notes ?? []).length === 0
    const lines = how.wide || !isWell ? linesOf(layer, { takenAt, paint, ...how }) : []
    return layer.layer === 'platform' && shown.platform
      ? lines.concat(platformLines(shown.platform, { paint, ...how }))
      : lines
  })
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
          `the last update, to ${last.version}, was completed at ${last.completed} and took ${spanText(last.tookSeconds * 1000)}`,
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
  const age = since === undefined ? '' : `, for ${spanSince(since, takenAt)}`
  return [
    ...entry(title, `${paint[tone](`${paint.mark[mark]} ${word}`)}: ${brief(says)}${age}`),
    ...(expected === undefined ? [] : entry('', `expected: ${expected}`)),
    ...(waitsFor ? entry('', `waits for ${brief(waitsFor)}`) : []),
    ...notes.flatMap((note) => entry('', paint.dim(brief(note)))),
    ...(wide && channels ? entry('', paint.dim(`channels: ${channels.map(layerWords).join(', ')}`)) : []),
    ...help.flatMap((line) => entry('', paint.dim(helpLine(line, paint)))),
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

/** VMs that do not run as they should, nodes that can take none, words that KubeVirt does not know: each with what helps. */
function troubleLines(
  { workloads, installation, overrides, running }: StatusDocument,
  { mark }: Pick<Paint, 'mark'>,
): readonly string[] {
  const { unknownMethods, hollowNodes, troubled, outdated } = workloads
  const behind = outdated.labelled ?? outdated.reported
  const paused = overrides?.settings?.some(({ id }) => id === methodsOverride) ?? false
  const { newer = 0 } = outdated
  // Whoever runs kvup may be moving them.
  const stays = behind && newer < behind && installation?.workloadUpdateMethods.length === 0 && !running
  return [
    ...(stays ? [`${mark.warning} outdated VMs are not updated: ${noMethodsText(paused)}`] : []),
    ...(unknownMethods
      ? [
          `${mark.warning} workloadUpdateMethods has ${unknownMethods.join(', ')}, which KubeVirt does not know`,
        ]
      : []),
    ...signedTroubles(troubled, mark.warning, mark.next),
    ...(hollowNodes
      ? [
          `${mark.warning} ${hollowNodes.sentence}`,
          ...hollowNodes.remedy.map((line) => `  ${helpLine(line, { mark })}`),
        ]
      : []),
  ]
}

/** The journal's name of the update methods. */
const methodsOverride: typeof overrideId = 'workload-updates'

export interface WaitDocument extends Document {
  kind: 'Wait'
  /** The condition. */
  for: string
  met: boolean
  /** Of one that was met; of another one its error says it. */
  outcome?: 'done'
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
    // What is not met ends the command with an error, which says so with its cause.
    ...(met
      ? wrap(
          [
            paint.good(`${condition} is met`),
            ...kubeVirtWords({ verdict, version, remarks }),
            `after ${spanText(tookSeconds * 1000)}`,
          ].join(` ${paint.mark.dot} `),
          size.columns,
        )
      : []),
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
