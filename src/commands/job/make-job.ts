import type { Context } from '../../context.ts'
import type { SealedPlan } from '../../lib/engine/sealed-plan.ts'
import { jobNamespace as ownNamespace, jobObjects, type JobPlace } from '../../lib/job/job-objects.ts'
import { type LeftOutRight, lineRights, type LineUse } from '../../lib/job/line-rights.ts'
import type { Cluster } from '../../lib/kube/cluster.ts'
import { blocked, type ExitCode, exitCode, usageError } from '../../lib/kube/errors.ts'
import type { Role } from '../../lib/kube/kinds/extension-kinds.ts'
import { CronJobs, Jobs } from '../../lib/kube/kinds/workload-kinds.ts'
import type { KubeObject } from '../../lib/kube/object.ts'
import { differences } from '../../lib/kube/server-side-apply.ts'
import { shellWord, withPurpose } from '../../lib/kube/shell-line.ts'
import { type Installation, theInstallation } from '../../lib/kubevirt/installation.ts'
import { takeSnapshot } from '../../lib/kubevirt/snapshot.ts'
import { methodsOf } from '../../lib/vms/update-methods.ts'
import { roleYaml } from '../../lib/manifests/manifest-diff.ts'
import { yamlText } from '../../lib/output/formats/yaml-text.ts'
import type { Document, View } from '../../lib/output/printer.ts'
import { count } from '../../lib/output/text.ts'
import { toType } from '../../lib/output/terminal.ts'
import { parseVersion } from '../../lib/releases/release-versions.ts'
import type { Method } from '../../lib/releases/hop-findings.ts'
import { readPlanFile } from '../../lib/upgrade/plan/plan-document.ts'
import type { RoleName } from '../../lib/upgrade/role-rights.ts'
import { reasonsFor, roleFor, rolesFor } from '../../lib/upgrade/roles.ts'
import { chooseMethod } from '../../lib/upgrade/upgrade-plan.ts'
import { applyEach, ensureOwnNamespace, jobExists, kindOf } from './apply-job.ts'
import { type InnerLine, parseInnerLine, valueOf } from './inner-line.ts'
import { type PackedLine, packLine } from './line-files.ts'

export interface PlaceOptions {
  jobNamespace: string
  name?: string
}

export interface MakeOptions extends PlaceOptions {
  image?: string
  apply?: boolean
  schedule?: string
  timeZone?: string
  namespaceOfKubevirt?: string
  namespaceOfCatalog?: string
}

interface JobDocument extends Document {
  kind: 'JobManifests'
  name: string
  namespace: string
  image: string
  /** The words that the pod runs. */
  line: readonly string[]
  role: RoleName
  /** Rights of the role that the line does not get. */
  leftOut: readonly LeftOutRight[]
  files: readonly { path: string; sha256: string }[]
  items: readonly KubeObject[]
  /** With `--apply`: what became of it. */
  applied: 'no' | 'applied' | 'unchanged'
  /** The command that removes all of it. */
  delete: string
}

/** `kvup job -- LINE`: prints what runs the line in the cluster, or applies it. Throws `usage` for a line that no Job can run. */
export async function makeJob(
  cx: Context,
  options: MakeOptions,
  typed: readonly string[],
): Promise<ExitCode> {
  const line = await parseInnerLine(typed)
  const image = pinnedImage(options.image)
  const place = placeOf(options, line.command)
  ensureSchedule(options, line)
  const sealed = line.command === 'upgrade' ? await sealedPlan(cx, line) : undefined
  const packed = await packLine(cx.world, line, sealed)
  const { role, kubevirt } = await grantOf(cx, options, line, sealed)
  const catalog = options.namespaceOfCatalog === undefined ? undefined : dnsName(options.namespaceOfCatalog)
  const { items, leftOut, rights, roles } = composeJob(
    { line, sealed, packed },
    { ...place, image, role, kubevirt, catalog, options },
  )
  const document: JobDocument = {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'JobManifests',
    ...place,
    image,
    line: packed.words,
    role,
    leftOut,
    files: packed.files.map(({ path, sha256 }) => ({ path, sha256 })),
    items,
    applied: 'no',
    delete: managing('delete', place),
  }
  const applied = options.apply === true ? await applyAll(cx, document) : 'no'
  cx.printer.result({ ...document, applied }, viewWith(reasonsOf(role, rights, roles)))
  return exitCode.done
}

/** Also as the Job is looked after. */
export const managing = (verb: 'status' | 'logs' | 'delete', { name, namespace }: JobPlace): string =>
  [
    `kvup job ${verb}`,
    ...(name === 'kvup-upgrade' ? [] : [`--name ${shellWord(name)}`]),
    ...(namespace === ownNamespace ? [] : [`--job-namespace ${shellWord(namespace)}`]),
  ].join(' ')

/** Throws `usage` for what is missing, and for what could be moved. */
export function pinnedImage(image: string | undefined): string {
  const pins = withPurpose(
    `skopeo inspect --format '{{.Name}}@{{.Digest}}' docker://${shellWord(image?.split('@')[0] ?? 'IMAGE')}`,
    'prints the name with its digest',
  )
  if (image === undefined)
    throw usageError('image-missing', 'name the image of kvup with --image: there is no default', {
      remedy: pins,
    })
  if (/^[a-z0-9][\w.:/-]*@sha256:[0-9a-f]{64}$/u.test(image)) return image
  throw usageError(
    'image-not-pinned',
    `${shellWord(image)} has no digest: whoever can push that tag could run anything with the rights of the Job`,
    { remedy: pins },
  )
}

/** Throws `usage` for what cannot be the name of the Job or its namespace. */
export function placeOf({ name, jobNamespace }: PlaceOptions, command = 'upgrade'): JobPlace {
  return {
    name: dnsName(name ?? `kvup-${command.replaceAll(' ', '-')}`, 40),
    namespace: dnsName(jobNamespace),
  }
}

function dnsName(typed: string, most = 63): string {
  if (/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/u.test(typed) && typed.length <= most) return typed
  throw usageError(
    'not-a-name',
    `${JSON.stringify(typed)} cannot be a name here: at most ${most} lower-case letters, digits and dashes`,
  )
}

function ensureSchedule({ schedule, timeZone }: MakeOptions, line: InnerLine): void {
  if (schedule === undefined) {
    if (timeZone === undefined) return
    throw usageError('contradiction', '--time-zone is of a schedule: add --schedule')
  }
  if (line.command !== 'upgrade' || valueOf(line, 'plan') === undefined)
    throw usageError(
      'schedule-without-plan',
      'a schedule repeats its line: only a sealed plan ends by itself where its goal is reached',
      { remedy: 'make the plan with kvup plan and --to-file, and add --plan FILE to the line' },
    )
  if (!/^(?:[\d*,/A-Za-z-]+\s+){4}[\d*,/A-Za-z?-]+$/u.test(schedule.trim()))
    throw usageError(
      'schedule',
      `${JSON.stringify(schedule)} is no schedule: it has five fields, as cron has them`,
      {
        remedy: "--schedule '0 22 * * 6' is Saturdays at 22:00",
      },
    )
}

async function sealedPlan(cx: Context, line: InnerLine): Promise<SealedPlan | undefined> {
  const file = valueOf(line, 'plan')
  return file === undefined || file === '-' ? undefined : readPlanFile(cx, file)
}

interface Grant {
  role: RoleName
  /** The namespace of KubeVirt. */
  kubevirt: string
}

async function grantOf(
  cx: Context,
  options: MakeOptions,
  line: InnerLine,
  sealed: SealedPlan | undefined,
): Promise<Grant> {
  const asked = (sealed?.request['method'] ?? line.options['method'] ?? 'auto') as Method | 'auto'
  const given = options.namespaceOfKubevirt
  const isAuto = line.command === 'upgrade' && asked === 'auto'
  if (given !== undefined && !isAuto) return { role: roleOf(line, asked, true), kubevirt: dnsName(given) }
  const installation = theInstallation(await takeSnapshot((await cx.cluster()).reader, [], cx.clock))
  const method = isAuto ? methodHere(line, installation) : asked
  return {
    role: roleOf(line, method, pausesHere(installation)),
    kubevirt: given === undefined ? installation.namespace : dnsName(given),
  }
}

/** Whether moving VMs changes a setting of KubeVirt for its time: automatic updates are on, or an earlier run paused them. */
function pausesHere({ kubevirt, manager }: Installation): boolean {
  const isPaused = Object.keys(kubevirt.metadata.annotations ?? {}).some((key) =>
    key.startsWith('kvup.io/saved'),
  )
  return manager.kind === 'hyperconverged' || methodsOf(kubevirt).length > 0 || isPaused
}

/** As the line itself will choose it. */
function methodHere(line: InnerLine, installation: Installation): Method {
  const { manifest, manifestSha256, to } = line.options
  if ((manifest ?? manifestSha256) !== undefined) return 'operator-manifest'
  return chooseMethod('auto', installation, parseVersion(typeof to === 'string' ? to : ''))
}

function roleOf({ command, options }: InnerLine, method: Method | 'auto', pauses: boolean): RoleName {
  if (command === 'eus run') return 'kvup-eus'
  if (command === 'workloads update')
    return pauses || options['watchOnly'] === true ? 'kvup-settings' : 'kvup-workloads'
  return roleFor(method === 'auto' ? 'operator-manifest' : method)
}

function useOf({ options }: InnerLine, role: RoleName, sealed: SealedPlan | undefined): LineUse {
  const all: Readonly<Record<string, unknown>> = { ...options, ...sealed?.request }
  const isPath = sealed === undefined ? all['between'] !== 'none' : all['via'] !== undefined
  return {
    role,
    cancelsMigrations: all['migrations'] === 'cancel',
    waitsForVms: all['waitWorkloads'] === true || isPath,
  }
}

/** Where a Job runs, by which image, and in whose namespace it changes what. */
export interface JobSetting extends JobPlace {
  image: string
  role: RoleName
  /** The namespace of KubeVirt. */
  kubevirt: string
  catalog?: string | undefined
  options?: Pick<MakeOptions, 'schedule' | 'timeZone'>
}

/** All that the cluster gets for a line, with the rights that the line uses. Pure. */
export function composeJob(
  { line, sealed, packed }: { line: InnerLine; sealed: SealedPlan | undefined; packed: PackedLine },
  { name, namespace, image, role, kubevirt, catalog, options = {} }: JobSetting,
) {
  const { rights, leftOut } = lineRights(useOf(line, role, sealed))
  const roles = rolesFor(role, kubevirt, catalog, rights)
  const { schedule, timeZone } = options
  const items = jobObjects({
    name,
    namespace,
    image,
    line: packed.words,
    files: packed.files,
    roles,
    ...(schedule !== undefined && { schedule: schedule.trim() }),
    ...(timeZone !== undefined && { timeZone }),
  })
  return { items, leftOut, rights, roles }
}

/** Why each rule stands there, by the object; what kvup makes of its own needs none. */
function reasonsOf(
  role: RoleName,
  rights: LineUseRights,
  roles: readonly Role[],
): ReadonlyMap<string, readonly string[]> {
  const reasons = reasonsFor(role, rights)
  return new Map(
    roles.map(({ metadata }, index) => [metadata.namespace ?? '', reasons[index] ?? []] as const),
  )
}

type LineUseRights = ReturnType<typeof lineRights>['rights']

/** Throws `blocked` for a namespace that is somebody else's, and for a Job of that name that runs another line. */
async function applyAll(cx: Context, document: JobDocument): Promise<'applied' | 'unchanged'> {
  const cluster = await cx.cluster()
  const isThere = await ensureOwn(cluster, document)
  if (isThere) return 'unchanged'
  const { name, namespace, items, role } = document
  const where =
    cluster.address === undefined ? '' : ` on ${shellWord(cluster.address.context ?? cluster.address.server)}`
  cx.printer.note(`${items.length} objects${where}: namespace ${namespace}, rights of ${role}, Job ${name}`)
  if (document.leftOut.length > 0)
    cx.printer.note(
      `${count(document.leftOut.length, 'right')} that this line does not use ${document.leftOut.length === 1 ? 'is' : 'are'} left out; without --apply each is named`,
    )
  if (
    !(await cx.prompt.confirm(
      `Apply them? The line begins ${document.items.some(({ kind }) => kind === 'CronJob') ? 'by its schedule' : 'at once'}.`,
    ))
  )
    throw blocked('answered-no', 'Canceled. Nothing was changed.')
  await applyEach(cluster, items, { removes: document.delete, signal: cx.signal })
  return 'applied'
}

/** True where the same Job is there already. */
async function ensureOwn({ reader }: Cluster, document: JobDocument): Promise<boolean> {
  const { name, namespace, items } = document
  if (!(await ensureOwnNamespace(reader, namespace))) return false
  for (const kind of [Jobs, CronJobs]) {
    const found = await reader.get<KubeObject>(kind, { name, namespace })
    if (found.is !== 'object') continue
    const wanted = items.find((item) => item.kind === kind.kind)
    if (wanted !== undefined && differences(wanted, found.object).length === 0) return true
    throw jobExists(kind, document, {
      status: managing('status', document),
      delete: managing('delete', document),
    })
  }
  return false
}

const viewWith = (reasons: ReadonlyMap<string, readonly string[]>): View<JobDocument> => ({
  text(document, paint) {
    const { name, namespace, items, role, leftOut, applied } = document
    if (applied !== 'no')
      return [
        `${paint.good(paint.mark.done)} Job ${name} ${applied === 'applied' ? 'applied' : 'is there already, unchanged'} in namespace ${namespace}`,
        toType('Next:', managing('status', document)),
        `Remove it with its rights: ${document.delete}`,
      ]
    return [
      `# Job ${name} in namespace ${namespace}, with the rights of ${role} that its line uses.`,
      '# kubectl apply -f - takes it. What removes it, bindings and roles too:',
      `#   ${document.delete}`,
      ...leftOut.map(({ right, why }) => `# Left out: ${right} (${why})`),
      ...items.flatMap((item) => ['---'].concat(yamlLines(item, reasons))),
    ]
  },
  names: ({ items }) => items.map((item) => `${kindOf(item).kind.toLowerCase()}/${item.metadata.name}`),
})

function yamlLines(item: KubeObject, reasons: ReadonlyMap<string, readonly string[]>): string[] {
  const isRole = item.kind === 'Role' || item.kind === 'ClusterRole'
  const why = isRole ? reasons.get(item.metadata.namespace ?? '') : undefined
  const text = why === undefined ? yamlText(item, true) : roleYaml(item, why)
  return text.trimEnd().split('\n')
}
