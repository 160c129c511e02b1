import type { Context } from '../../context.ts'
import type { SealedPlan } from '../../lib/engine/sealed-plan.ts'
import { jobObjects, jobSelector, type JobPlace } from '../../lib/job/job-objects.ts'
import { type LeftOutRight, lineRights, type LineUse } from '../../lib/job/line-rights.ts'
import { type ExitCode, exitCode, usageError } from '../../lib/kube/errors.ts'
import type { Role } from '../../lib/kube/kinds/extension-kinds.ts'
import type { KubeObject } from '../../lib/kube/object.ts'
import { shellWord, withPurpose } from '../../lib/kube/shell-line.ts'
import { type Installation, theInstallation } from '../../lib/kubevirt/installation.ts'
import { takeSnapshot } from '../../lib/kubevirt/snapshot.ts'
import { methodsOf } from '../../lib/vms/update-methods.ts'
import { roleYaml } from '../../lib/manifests/manifest-diff.ts'
import { yamlText } from '../../lib/output/formats/yaml-text.ts'
import type { Document, View } from '../../lib/output/printer.ts'
import { parseVersion } from '../../lib/releases/release-versions.ts'
import type { Method } from '../../lib/releases/hop-findings.ts'
import { readPlanFile } from '../../lib/upgrade/plan/plan-document.ts'
import type { RoleName } from '../../lib/upgrade/role-rights.ts'
import { reasonsFor, roleFor, rolesFor } from '../../lib/upgrade/roles.ts'
import { chooseMethod } from '../../lib/upgrade/upgrade-plan.ts'
import { type InnerLine, parseInnerLine, valueOf } from './inner-line.ts'
import { packLine } from './line-files.ts'

export interface MakeOptions {
  jobNamespace: string
  name?: string
  image?: string
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
  leftOut: readonly LeftOutRight[]
  files: readonly { path: string; sha256: string }[]
  items: readonly KubeObject[]
  /** The line that deletes all of it. */
  undo: string
}

/** `kvup job -- LINE`: prints what runs the line in the cluster, for `kubectl create`. Throws `usage` for a line that no Job can run. */
export async function makeJob(
  cx: Context,
  options: MakeOptions,
  typed: readonly string[],
): Promise<ExitCode> {
  const line = await parseInnerLine(typed)
  const image = pinnedImage(options.image)
  const place = placeOf(options, line.command, cx.world.randomSuffix())
  const sealed = line.command === 'upgrade' ? await sealedPlan(cx, line) : undefined
  const packed = await packLine(cx.world, line, sealed)
  const { role, kubevirt } = await grantOf(cx, options, line, sealed)
  const catalog =
    options.namespaceOfCatalog === undefined ? undefined : dnsName(options.namespaceOfCatalog, 63)
  const { rights, leftOut } = lineRights(useOf(line, role, sealed))
  const roles = rolesFor(role, kubevirt, catalog, rights)
  const { words, files } = packed
  const document: JobDocument = {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'JobManifests',
    ...place,
    image,
    line: words,
    role,
    leftOut,
    files: files.map(({ path, sha256 }) => ({ path, sha256 })),
    items: jobObjects({ ...place, image, line: words, files, roles }),
    undo: `kubectl delete ${deleted} -A -l ${jobSelector(place)}`,
  }
  cx.printer.result(document, viewWith(reasonsOf(role, rights, roles)))
  return exitCode.done
}

/** The Job before its rights; all else is in the namespace. */
const deleted = 'jobs,rolebindings,clusterrolebindings,roles,clusterroles,namespaces'

/** Throws `usage` for what is missing, and for what could be moved. */
function pinnedImage(image: string | undefined): string {
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

/** No object of a cluster has these names: `kubectl create` meets nothing that exists. Throws `usage` for what cannot be a name. */
const placeOf = ({ name, jobNamespace }: MakeOptions, command: string, suffix: string): JobPlace => ({
  name: `${dnsName(name ?? `kvup-${command.replaceAll(' ', '-')}`)}-${suffix}`,
  namespace: `${dnsName(jobNamespace)}-${suffix}`,
})

function dnsName(typed: string, most = 40): string {
  if (/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/u.test(typed) && typed.length <= most) return typed
  throw usageError(
    'not-a-name',
    `${JSON.stringify(typed)} cannot be a name here: at most ${most} lower-case letters, digits and dashes`,
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
  if (given !== undefined && !isAuto) return { role: roleOf(line, asked, true), kubevirt: dnsName(given, 63) }
  const installation = theInstallation(await takeSnapshot((await cx.cluster()).reader, [], cx.clock))
  const method = isAuto ? methodHere(line, installation) : asked
  return {
    role: roleOf(line, method, pausesHere(installation)),
    kubevirt: given === undefined ? installation.namespace : dnsName(given, 63),
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

const viewWith = (reasons: ReadonlyMap<string, readonly string[]>): View<JobDocument> => ({
  text: ({ name, namespace, items, role, leftOut, undo }) => [
    `# Job ${name} in namespace ${namespace}, with the rights of ${role} that its line uses.`,
    '# For kubectl create -f -. The last line deletes all of it.',
    ...leftOut.map(({ right, why }) => `# Left out: ${right} (${why})`),
    ...items.flatMap((item) => ['---'].concat(yamlLines(item, reasons))),
    `# ${undo}`,
  ],
  names: ({ items }) => items.map(({ kind, metadata }) => `${kind.toLowerCase()}/${metadata.name}`),
})

function yamlLines(item: KubeObject, reasons: ReadonlyMap<string, readonly string[]>): string[] {
  const isRole = item.kind === 'Role' || item.kind === 'ClusterRole'
  const why = isRole ? reasons.get(item.metadata.namespace ?? '') : undefined
  const text = why === undefined ? yamlText(item, true) : roleYaml(item, why)
  return text.trimEnd().split('\n')
}
