import type { CommandContext } from '../../kube/world.ts'
import { exitCode, KvupError, usageError } from '../../kube/errors.ts'
import type { UpgradeOptions } from '../plan/upgrade-options.ts'
import type { Cluster } from '../../kube/cluster.ts'
import type { UpgradePlan, UpgradeState } from '../upgrade-plan.ts'
import type { Finding } from '../../checks/check-definition.ts'
import {
  backupOf,
  type BackupOrigin,
  conflictFindings,
  isBackupOf,
  manifestChanges,
  type ObjectChange,
} from '../../manifests/apply-manifest.ts'
import { extrasFindings } from '../../manifests/manifest-extras.ts'
import {
  inNamespace,
  type Manifest,
  mustBeVersion,
  notInManifest,
  operatorManifest,
  parseManifest,
} from '../../manifests/manifest.ts'
import { manifestSource, notReadFinding, originOf, readManifest } from '../../manifests/manifest-source.ts'
import { fromRegistry, registryFinding, registryToKeep } from '../../manifests/image-registry.ts'
import type { AcceptedRisk } from '../../releases/hop-findings.ts'
import { type Releases, unknownRelease } from '../../releases/releases.ts'
import type { LoadedManifest, ReleaseManifest } from './operator-manifest.ts'

/** The manifest of the release, its findings, and what has to happen before the first write. */
export interface PreparedManifest extends ReleaseManifest {
  findings: readonly Finding[]
  /** Saves what it replaces; of an upgrade of which only the end is left it is read and judged first. */
  prepare(): Promise<void>
  /** File into which `prepare` writes what is replaced; undefined where nothing is. Throws `usage` for one that holds something else. */
  backupFile(): Promise<string | undefined>
  /** Where it was read already. */
  readonly loaded: LoadedManifest | undefined
  /** File with the replaced objects; undefined until there is one. */
  readonly backup: string | undefined
}

interface ManifestQuestion {
  cx: CommandContext
  options: UpgradeOptions
  plan: UpgradePlan
  upgradeState: UpgradeState
  cluster: Cluster
  releases: Releases
  accepted: readonly AcceptedRisk[]
  /** Throws `blocked` for what stands against it and nobody accepted. */
  gate: (findings: readonly Finding[], accepted: readonly AcceptedRisk[]) => void
  /** Also behind a URL: a plan shows what is in it. */
  readNow: boolean
  /** It is of a later step of an upgrade path: what it changes is told once its turn comes. */
  isLater?: boolean
}

/** It is read and judged at once, before anybody is asked; where only the end of the upgrade is left it may not be needed, and an address is not asked for it. */
export async function prepareManifest(question: ManifestQuestion): Promise<PreparedManifest> {
  const { options, plan, cx, accepted } = question
  if (plan.method !== 'operator-manifest' || plan.request.follow) return unused(options, plan)
  const source = manifestSource(options, plan.to.text)
  const file = options.backup ?? `kvup-backup-${plan.from ?? 'unknown'}-${plan.owner.uid.slice(0, 8)}.yaml`
  let loading: Promise<LoadedManifest | undefined> | undefined
  let loaded: LoadedManifest | undefined
  let saved: string | undefined
  const read = async () => {
    cx.printer.awaiting?.(`reading the operator manifest of ${plan.to.text}`)
    return (loaded = await unlessNeedless(question))
  }
  const load = () => (loading ??= read())
  const later = source.from === 'url' && !question.readNow && plan.isRest
  if (source.from === 'url') cx.printer.note(`the operator manifest comes from ${originOf(source)}`)
  const findings = later ? [] : await judgedNow(question, load)
  if (!later) await load().catch(() => undefined)
  return {
    load,
    findings,
    async prepare() {
      const { manifest } = (await load()) ?? {}
      if (manifest === undefined) return
      if (later) question.gate(await judge(manifest, question), accepted)
      saved = await save(manifest, file, question)
    },
    async backupFile() {
      if (loaded === undefined) return undefined
      const changes = await manifestChanges(question.cluster.reader, loaded.manifest.objects)
      if (changes.every(({ is }) => is === 'same')) return undefined
      await keptBackup(originOfBackup(file, question), cx.world)
      return file
    },
    get loaded() {
      return loaded
    },
    unread: findings.find(({ level }) => level === 'not-checked')?.summary,
    get backup() {
      return saved
    },
  }
}

async function judgedNow(
  question: ManifestQuestion,
  load: () => Promise<LoadedManifest | undefined>,
): Promise<readonly Finding[]> {
  try {
    const loaded = await load()
    return loaded === undefined ? [] : await judge(loaded.manifest, question)
  } catch (error) {
    if (!(error instanceof KvupError) || !isAway(error)) throw error
    const unknown = unknownOf(question)
    if (unknown === undefined && error.exitCode !== exitCode.unreachable) throw error
    const finding = notReadFinding(error)
    if (unknown === undefined) return [finding]
    return [
      {
        ...finding,
        summary: `${unknown.why}. ${capital(finding.summary)}`,
        remedy: [unknown.help, ...finding.remedy],
      },
    ]
  }
}

/** It could not be fetched, or is not where it was looked for. */
const isAway = ({ exitCode: code, reason }: KvupError): boolean =>
  code === exitCode.unreachable || reason === 'manifest-missing'

/** That kvup knows no such release comes first: it may be mistyped. Nothing where a manifest was given. */
function unknownOf({ options, plan, releases }: ManifestQuestion): { why: string; help: string } | undefined {
  if (options.manifest !== undefined) return undefined
  const why = unknownRelease(plan.to, releases)
  return why === undefined
    ? undefined
    : { why, help: 'kvup releases     lists the releases that kvup knows; --releases FILE adds newer ones' }
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

/**
 * The flags as they are of one step of an upgrade path: of the checksums its own, and none of a manifest where it applies none. `ofPath`: another step may
 * use them. Throws `usage` where checksums are named and its own is not.
 */
export function optionsOfLeg(options: UpgradeOptions, plan: UpgradePlan, ofPath: boolean): UpgradeOptions {
  const { manifestSha256: typed, rewriteNamespace, ...rest } = options
  if (plan.method !== 'operator-manifest' && ofPath) return rest
  const sum = typed === undefined ? undefined : sumOf(typed, plan.to.text)
  return {
    ...rest,
    ...(rewriteNamespace !== undefined && { rewriteNamespace }),
    ...(sum !== undefined && { manifestSha256: sum }),
  }
}

/** `SUM`, or of `v1.6.6=SUM,v1.7.4=SUM` that of this version. */
function sumOf(typed: string, version: string): string {
  if (!typed.includes('=')) return typed
  const sums = new Map<string, string>()
  for (const one of typed.split(',')) {
    const [name = '', sum = ''] = one.trim().split('=')
    const former = sums.get(name)
    if (former !== undefined && former !== sum)
      throw usageError('contradiction', `--manifest-sha256 names two checksums for ${name}`)
    sums.set(name, sum)
  }
  const sum = sums.get(version)
  if (sum !== undefined) return sum
  throw usageError('manifest-checksum-missing', `--manifest-sha256 names no checksum for ${version}`, {
    remedy: `--manifest-sha256 ${typed},${version}=SUM`,
  })
}

/** What was said of a manifest must not be passed over: somebody counts on it. */
function unused(options: UpgradeOptions, { method }: UpgradePlan): PreparedManifest {
  const { manifest, manifestSha256, rewriteNamespace, backup } = options
  const said = Object.entries({
    manifest,
    'manifest-sha256': manifestSha256,
    'rewrite-namespace': rewriteNamespace,
    backup,
  })
    .filter(([, value]) => value !== undefined)
    .map(([flag]) => `--${flag}`)
  if (said.length > 0)
    throw usageError('manifest-unused', `${said.join(', ')} has no effect: the method ${method}`, {
      remedy: 'add --method operator-manifest, or omit it',
    })
  return {
    load: noManifest,
    findings: [],
    prepare: async () => undefined,
    backupFile: async () => undefined,
    loaded: undefined,
    backup: undefined,
  }
}

const noManifest = () => Promise.reject(new Error('the image-tag method has no manifest'))

/** An upgrade of which only the end is left has applied it: whoever ends it need not have the file, or a way to its address, any more. */
async function unlessNeedless(question: ManifestQuestion): Promise<LoadedManifest | undefined> {
  const { cx, plan } = question
  try {
    return await fitting(question)
  } catch (error) {
    if (!plan.isRest || !(error instanceof KvupError) || !isAway(error)) throw error
    cx.printer.note(
      `KubeVirt runs ${plan.to.text} already, and kvup did not read its manifest: ${error.message}`,
    )
    return undefined
  }
}

async function fitting({ cx, options, plan, upgradeState }: ManifestQuestion): Promise<LoadedManifest> {
  const source = manifestSource(options, plan.to.text)
  const { text, origin, sha256 } = await readManifest(
    source,
    { ...cx.world, signal: cx.signal },
    options.manifestSha256,
  )
  const manifest = operatorManifest(parseManifest(text, origin), origin)
  mustBeVersion(manifest, plan.to.text)
  const here = inNamespace(
    manifest,
    upgradeState.installation.operator?.namespace ?? plan.owner.ref.namespace,
    options.rewriteNamespace ?? false,
  )
  const registry = registryToKeep(here, upgradeState.installation.deployment, plan.request.imageRegistry)
  return { manifest: registry ? fromRegistry(here, registry) : here, sha256 }
}

async function judge(
  manifest: Manifest,
  { cluster, plan, upgradeState, isLater }: ManifestQuestion,
): Promise<readonly Finding[]> {
  const asked = plan.request.imageRegistry !== undefined
  const changes = await manifestChanges(cluster.reader, manifest.objects)
  return [
    ...extrasFindings(manifest, changes),
    ...(asked ? [] : registryFinding(manifest, upgradeState.installation.deployment)),
    ...(isLater ? [] : conflictFindings(changes)),
  ]
}

/** Keeps what the first run saved: on resuming, half of it is replaced already. */
async function save(
  manifest: Manifest,
  file: string,
  question: ManifestQuestion,
): Promise<string | undefined> {
  const { cx, cluster } = question
  const changes = await manifestChanges(cluster.reader, manifest.objects)
  if (changes.every(({ is }) => is === 'same')) return undefined
  const left = await notInManifest(cluster.reader, manifest).catch(() => [])
  if (left.length > 0)
    cx.printer.note(
      `not in the new manifest, and not deleted: ${left.map(({ kind, metadata }) => `${kind}/${metadata.name}`).join(', ')}`,
    )
  await saveBackup(changes, originOfBackup(file, question), cx)
  return file
}

function originOfBackup(file: string, { plan }: Pick<ManifestQuestion, 'plan'>): BackupOrigin {
  const { from = 'unknown', to, owner } = plan
  return { file, from, to: to.text, uid: owner.uid }
}

/** Whether the file of an earlier run is there. Throws `usage` for any other file. */
async function keptBackup(
  origin: BackupOrigin,
  world: Pick<CommandContext['world'], 'readText'>,
): Promise<boolean> {
  const before = await readIfThere(origin.file, world)
  if (before === undefined) return false
  if (!isBackupOf(before, origin)) throw taken(origin.file)
  return true
}

/**
 * Saves what is going to be replaced. The file of an earlier run is kept, for on resuming half of it is replaced already; any
 * other file is neither overwritten nor taken for the way back. Throws `usage`: without a way back nothing is changed.
 */
export async function saveBackup(
  changes: readonly ObjectChange[],
  origin: BackupOrigin,
  { world, printer }: Pick<CommandContext, 'world' | 'printer'>,
): Promise<void> {
  const { file } = origin
  if (!(await keptBackup(origin, world)))
    return world.writeText(file, backupOf(changes, origin)).catch((cause: unknown) => {
      throw notSaved(file, cause)
    })
  printer.note(`${file} exists already and is not overwritten: it has the objects from before the first run`)
}

async function readIfThere(
  file: string,
  world: Pick<CommandContext['world'], 'readText'>,
): Promise<string | undefined> {
  try {
    return await world.readText(file)
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined
    throw notSaved(file, cause)
  }
}

function notSaved(file: string, cause: unknown): Error {
  const why = cause instanceof Error ? cause.message : String(cause)
  return usageError(
    'backup',
    `kvup cannot save the objects that it would replace to ${file}: ${why}. Nothing was changed`,
    { remedy: 'name a writable file: --backup FILE', cause },
  )
}

function taken(file: string): Error {
  return usageError(
    'backup',
    `${file} exists already, and is no complete backup of this KubeVirt before this update. Nothing was changed`,
    { remedy: 'name another file: --backup FILE' },
  )
}
