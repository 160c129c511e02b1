import type { ClusterAddress } from '../../../kube/cluster.ts'
import { spanText } from '../../../kube/duration.ts'
import { shellWord } from '../../../kube/shell-line.ts'
import type { AcceptedRisk, HopFinding } from '../../../releases/hop-findings.ts'
import type { EusPlan } from '../../../eus/plan/eus-plan.ts'
import type { UpgradePlan } from '../../../upgrade/upgrade-plan.ts'
import type { Paint } from '../../printer.ts'
import { brief, count, firstClause } from '../../text.ts'
import { outageLines } from '../eus/eus-plan.ts'
import { clusterText } from '../check-report.ts'
import { hopText } from './upgrade-plan-words.ts'

/** What is known of an upgrade beside its plan when a person is asked. */
export interface BeforeQuestion {
  plan: UpgradePlan
  findings: readonly HopFinding[]
  accepted: readonly AcceptedRisk[]
  /** Absent of a simulated cluster. */
  address?: ClusterAddress | undefined
  /** As whom the API server knows who asks. */
  user?: string | undefined
  /** How long it takes, and what that is worked out from. */
  time?: string | undefined
  /** ms after which the run gives up; of an upgrade over several minors each of them has as long. */
  timeoutMs: number
  /** File for what the manifest replaces; undefined where nothing is. */
  backup?: string | undefined
  /** The command that resumes automatic VM updates. */
  restore: string
}

type Row = readonly [label: string, text: string]

/**
 * The screen before the question: what changes, on which cluster and as whom, for how long, what VMs notice of it, whether there is a way back, and what is against it,
 * worst first.
 */
export function questionLines(asked: BeforeQuestion, paint: Paint): readonly string[] {
  const wayBack = wayBackLines(asked.plan, paint)
  const rows: readonly Row[] = [
    ...methodRows(asked.plan),
    ...timeRows(asked),
    ...impactRows(asked, paint),
    ['backup', backupText(asked)],
    ...findingRows(wayBack.length > 0 ? withoutWayBack(asked) : asked, paint),
  ]
  return [headline(asked, paint), ...goingBackLines(asked, paint), ...wayBack, ...rows.map(rowText)]
}

/** A row of its own says it. */
const withoutWayBack = <T extends Pick<BeforeQuestion, 'findings'>>(asked: T): T => ({
  ...asked,
  findings: asked.findings.filter(({ id, level }) => id !== 'cannot-be-undone' || level !== 'info'),
})

const labelWidth = 8
const rowText = ([label, text]: Row): string => `${label.padEnd(labelWidth)}  ${text}`

/** Nobody has to guess in which folder it will be. */
const fileText = (file: string): string => (/[/\\]/u.test(file) ? shellWord(file) : `./${shellWord(file)}`)

/** What can be restored afterwards, and from where; of VMs there is nothing, which nobody is to believe. */
function backupText({ plan: { pausedMethods, tag, olm, owner, request }, backup }: BeforeQuestion): string {
  const object = olm ? 'HyperConverged' : `KubeVirt ${owner.ref.name}`
  const values = [
    ...(pausedMethods.length > 0 ? ['workloadUpdateMethods'] : []),
    ...(tag.is === 'lift' ? ['imageTag'] : []),
  ]
  const none = 'not etcd or VMs'
  if (backup !== undefined) return `${fileText(backup)} (operator objects); ${none}`
  return values.length === 0 || request.follow
    ? 'none'
    : `${values.join(' and ')} alone, on ${object}; ${none}`
}

/** `Upgrade KubeVirt v1.7.4 → v1.8.4 on prod-eu (https://10.0.0.1:6443, as admin)` */
function headline({ plan, address, user, findings }: BeforeQuestion, paint: Paint): string {
  const { from, to, olm, path, isRest, goesBack } = plan
  const what = isRest
    ? olm
      ? `HyperConverged ${olm.to}`
      : `KubeVirt ${to.text}`
    : hopText({ from, to: to.text, operator: olm }, paint.mark.to)
  const act = goesBack || findings.some(isGoingBack) ? 'Downgrade' : 'Upgrade'
  // What was not completely left is gone back to: it is from a version to the same one.
  const isReturn = act === 'Downgrade' && from === to.text
  const verb = isRest ? `Finish the ${act.toLowerCase()} of` : isReturn ? 'Go back to' : act
  const many = path !== undefined && path.steps.length > 1 ? ` in ${path.steps.length} steps` : ''
  const where = [
    ...(address === undefined ? [] : [`on ${clusterText(address)}`]),
    ...(user === undefined ? [] : [`as ${brief(user)}`]),
  ].join(' ')
  return `${paint.strong(`${verb} ${what}`)}${many}${where && ` ${where}`}`
}

/** What going back takes away is told in full, accepted or not: CRDs go with all their objects. */
const goingBack: ReadonlySet<string> = new Set(['way-back', 'downgrade'])
const isGoingBack = ({ id }: HopFinding): boolean => goingBack.has(id)

const goingBackLines = ({ findings }: BeforeQuestion, paint: Paint): readonly string[] =>
  findings
    .filter(isGoingBack)
    .map(({ summary, id }) => `${paint.bad(paint.mark.warning)} ${paint.strong(summary)} (${id})`)

/** The most important sentence of the screen, where there is none. */
function wayBackLines({ wayBack, from, to, goesBack, isRest }: UpgradePlan, paint: Paint): readonly string[] {
  if (goesBack || isRest || from === undefined || from === to.text) return []
  if (wayBack.is === 'open')
    return [
      rowText([
        'way back',
        `to ${from}, until virt-controller is updated; after that unsupported${wayBack.deletes ? `. Going back deletes the CRDs that ${from} lacks, and their objects` : ''}`,
      ]),
    ]
  const when = wayBack.is === 'closes' ? ' once virt-operator has replaced the CRDs' : ''
  return [
    `${paint.bad(paint.mark.warning)} ${paint.strong(`There is no way back${when}`)}: ${brief(wayBack.why)}`,
  ]
}

function methodRows({ method, owner, tag, to, path, isRest }: UpgradePlan): readonly Row[] {
  if (isRest)
    return [['method', 'none: the version is installed. kvup verifies it and restores temporary changes']]
  const how = {
    'image-tag': `image tag of kubevirts/${owner.ref.name} in namespace ${owner.ref.namespace}`,
    'operator-manifest': `operator manifest of ${path ? 'each release' : to.text}`,
    olm: `OLM; kvup approves exactly the InstallPlan of each step`,
  }[method]
  const tags = {
    none: [],
    lift: [
      `imageTag ${'tag' in tag ? tag.tag : ''} is removed, then set as ${path ? 'each release' : to.text}: one roll`,
    ],
    pin: [
      `imageTag ${'tag' in tag ? tag.tag : ''} remains until the new virt-operator is healthy, then becomes ${to.text}: two rolls`,
    ],
  }[tag.is]
  return [['method', how], ...tags.map((text): Row => ['tag', text])]
}

function timeRows({ time, timeoutMs, plan: { path } }: BeforeQuestion): readonly Row[] {
  const each = path !== undefined && path.steps.length > 1 ? 'each step gives up' : 'gives up'
  const limit = `${each} after ${spanText(timeoutMs)}`
  return [['time', time === undefined ? limit : `${time}; ${limit}`]]
}

/** `1.18.1 brings KubeVirt v1.8.4`, where the headline names both. */
const isInHead = /no way back|^\S+ brings KubeVirt /iu

function impactRows({ plan, restore }: BeforeQuestion, paint: Paint): readonly Row[] {
  const { said, pausedMethods, request } = plan
  const told = said.filter((text) => !isInHead.test(text) && !isCommit(text) && !text.startsWith(pathOfHco))
  const end = request.leavePaused ? ` until ${restore}` : ', and resume at the end'
  return [
    ...said
      .filter((text) => text.startsWith(pathOfHco))
      .map((text): Row => ['path', text.slice(pathOfHco.length)]),
    ...said
      .filter(isCommit)
      .map((text): Row => [text.slice(0, text.indexOf(':')), text.slice(text.indexOf(':') + 2)]),
    ...(told.length > 0 ? [['impact', told.map(brief).join(` ${paint.mark.dot} `)] as const] : []),
    ...(pausedMethods.length > 0
      ? [['updates', `automatic VM updates (${pausedMethods.join(', ')}) are paused${end}`] as const]
      : []),
  ]
}

/** The releases between are no impact. */
const pathOfHco = 'the path of HyperConverged: '

/** Whoever owns KubeVirt commits it: to be read line by line. */
const isCommit = (text: string): boolean => /^commit \d+: /u.test(text)

/** What stands in brackets are lists and details, which `kvup check` has. */
const withoutDetails = (summary: string): string =>
  firstClause(summary).replaceAll(/ \((?:[^()]|\([^()]*\))*\)/gu, '')

/** An update that is under way already: what becomes of it is no detail. */
const ofAnotherUpdate: ReadonlySet<string> = new Set(['update-joined', 'update-taken-over'])

/** The same of an EUS upgrade. */
export interface BeforeEusQuestion extends Pick<BeforeQuestion, 'accepted' | 'address' | 'user'> {
  plan: EusPlan
  /** It was begun: what is paused for it was told then. */
  isOpen: boolean
  /** Where the run ends early, because it may not approve. */
  approval: string | undefined
  /** What else is restored at its end. */
  restores: readonly string[]
}

/** The screen before the question of an EUS upgrade: whether there is a way back, then where, how long, what is paused meanwhile, what VMs notice and what is against it. */
export function eusQuestionLines(asked: BeforeEusQuestion, paint: Paint): readonly string[] {
  const { plan, accepted, approval, restores } = asked
  const findings = plan.findings.filter(
    ({ id, level }) => level === 'warning' || level === 'info' || accepted.some((risk) => risk.id === id),
  )
  const { forecast, remarks = [] } = plan
  const rows: readonly Row[] = [
    ...placeRows(asked, paint),
    ['time', plan.time.says],
    ...(approval === undefined ? [] : [['approval', approval] as const]),
    ...(asked.isOpen ? [] : pauseRows(plan, paint)),
    ...(forecast === undefined ? [] : [['VMs', forecast] as const]),
    ...outageLines(plan).map((text): Row => ['outage', text]),
    ...restores.map((text): Row => ['restores', text]),
    ...remarks.map((text): Row => ['note', brief(text)]),
    ...findingRows({ findings, accepted }, paint),
  ]
  return [...eusWayBackLines(plan, paint), ...rows.map(rowText)]
}

const isBetween = ({ began, from }: EusPlan): boolean => !from.startsWith(`${began}.`)

function eusWayBackLines(plan: EusPlan, paint: Paint): readonly string[] {
  if (plan.hops.length === 0 || isBetween(plan)) return []
  const mark = paint.bad(paint.mark.warning)
  return [`${mark} ${paint.strong(`There is no way back to ${plan.began}.`)} Back up etcd and VM data now.`]
}

function placeRows({ plan, address, user }: BeforeEusQuestion, paint: Paint): readonly Row[] {
  const { began, from, to, hops } = plan
  const where = [
    ...(address === undefined ? [] : [clusterText(address)]),
    ...(user === undefined ? [] : [address === undefined ? brief(user) : `as ${brief(user)}`]),
  ].join(' ')
  const releases = [
    from,
    ...hops.flatMap(({ minor, platform }) => (platform.done ? [] : [platform.version ?? minor])),
  ]
  const path = releases.length === 1 ? to : releases.join(` ${paint.mark.to} `)
  return [
    ...(where === '' ? [] : [[address === undefined ? 'user' : 'cluster', where] as const]),
    ...(isBetween(plan)
      ? [['now', `the control plane is at ${from}, paused pools are at ${began}`] as const]
      : []),
    ['path', `${path}; it may take days. Ctrl-C is safe: the same command continues`],
  ]
}

/** What is otherwise until the end. */
function pauseRows({ pools, healthChecks, methods, mode }: EusPlan, paint: Paint): readonly Row[] {
  const paused = pools.filter((pool) => !pool.paused).map(({ name }) => name)
  const checks = healthChecks.filter((check) => !check.paused).length
  const pauses = [
    ...(paused.length > 0 ? [`pools ${paused.join(', ')} until the end; master never`] : []),
    ...(checks > 0 ? [`${count(checks, 'health check')}: failed nodes are not replaced meanwhile`] : []),
  ]
  const until = mode === 'rolling' ? 'in each step' : 'until the end'
  return [
    ...(pauses.length > 0 ? [['pauses', pauses.join(` ${paint.mark.dot} `)] as const] : []),
    ...(paused.length > 0
      ? [
          [
            'first',
            'apply mirrors, pull secrets and kubelet settings now: nodes of paused pools get none',
          ] as const,
        ]
      : []),
    ...(methods.length > 0
      ? [
          [
            'updates',
            `automatic VM updates (${methods.join(', ')}) are paused ${until}: CPU, memory and volume changes wait, and the alert OutdatedVirtualMachineInstanceWorkloads fires after 24 h`,
          ] as const,
        ]
      : []),
    [
      'abort',
      'kvup eus abort undoes all of it until the platform has accepted a step. After that it restores the temporary changes alone',
    ],
  ]
}

/** Blockers are behind us: what is left was accepted, or is no reason to refuse. */
function findingRows(
  { findings, accepted }: Pick<BeforeQuestion, 'findings' | 'accepted'>,
  paint: Paint,
): readonly Row[] {
  const taken = findings.filter(({ id }) => accepted.some((risk) => risk.id === id))
  const open = findings.filter((finding) => !taken.includes(finding))
  const warnings = open.filter((finding) => finding.level !== 'info' && !isGoingBack(finding))
  const told = open.filter(({ level, id }) => level === 'info' && ofAnotherUpdate.has(id))
  const infos = [
    ...new Set(open.filter((one) => one.level === 'info' && !told.includes(one)).map(({ id }) => id)),
  ]
  const withReason = ({ id, standsAt }: HopFinding) => {
    const reason = accepted.find((risk) => risk.id === id)?.reason
    const said = [reason && `"${brief(reason)}"`, standsAt && `stops at ${standsAt}`].filter(Boolean)
    return said.length === 0 ? id : `${id} (${said.join('; ')})`
  }
  return [
    ...(taken.length > 0 ? [['accepted', [...new Set(taken.map(withReason))].join(', ')] as const] : []),
    ...warnings.map((finding): Row => [
      'warning',
      `${paint.warn(withoutDetails(finding.summary))} (${finding.id})`,
    ]),
    ...told.map(({ summary, id }): Row => ['info', `${brief(summary)} (${id})`]),
    ...(infos.length > 0 ? [['info', `${infos.join(', ')} (kvup explain NAME)`] as const] : []),
  ]
}
