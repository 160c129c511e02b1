import type { Context } from '../../context.ts'
import type { Cluster } from '../../lib/cluster/cluster.ts'
import type { Finding } from '../../lib/checks/finding.ts'
import { backupOf } from '../../lib/manifests/backup.ts'
import { manifestChanges } from '../../lib/manifests/changes.ts'
import { conflictFindings } from '../../lib/manifests/conflict-finding.ts'
import { extrasFindings } from '../../lib/manifests/extras.ts'
import { type Manifest, mustBeVersion, operatorManifest } from '../../lib/manifests/manifest.ts'
import { notInManifest } from '../../lib/manifests/missing.ts'
import { inNamespace } from '../../lib/manifests/namespace.ts'
import { parseManifest } from '../../lib/manifests/parse.ts'
import { readManifest } from '../../lib/manifests/read-manifest.ts'
import { fromRegistry, registryToKeep } from '../../lib/manifests/registry.ts'
import { manifestSource, originOf } from '../../lib/manifests/source.ts'
import { parseAccepted, passGate } from '../../lib/run/gate.ts'
import type { Seen } from '../../lib/upgrade/make-plan.ts'
import type { UpgradePlan } from '../../lib/upgrade/plan.ts'
import type { LoadedManifest, ReleaseManifest } from '../../lib/upgrade/steps/apply-manifest.ts'
import type { UpgradeOptions } from './options.ts'

/** The manifest of the release, its findings, and what has to happen before the first write. */
export interface PreparedManifest extends ReleaseManifest {
  findings: readonly Finding[]
  /** Downloads it where it was not read yet, judges it, and saves what it replaces. */
  prepare(): Promise<void>
  /** File with the replaced objects; undefined until there is one. */
  readonly backup: string | undefined
}

interface Question {
  cx: Context
  options: UpgradeOptions
  plan: UpgradePlan
  seen: Seen
  cluster: Cluster
}

/** A file or standard input is read and judged at once; a URL only once the plan is accepted (contract "Release manifests"). */
export async function prepareManifest(question: Question): Promise<PreparedManifest> {
  const { options, plan, cx } = question
  if (plan.method !== 'operator-manifest' || plan.request.follow)
    return { load: noManifest, findings: [], prepare: async () => undefined, backup: undefined }
  const source = manifestSource(options, plan.to.text)
  const file = options.backup ?? `kvup-backup-${plan.from ?? 'unknown'}-${plan.owner.uid.slice(0, 8)}.yaml`
  let loading: Promise<LoadedManifest> | undefined
  let saved: string | undefined
  const load = () => (loading ??= fitting(question))
  const findings = source.from === 'url' ? [] : await judge((await load()).manifest, question)
  if (source.from === 'url') cx.printer.note(`the operator manifest comes from ${originOf(source)}`)
  return {
    load,
    findings,
    async prepare() {
      const { manifest } = await load()
      if (source.from === 'url') passGate(await judge(manifest, question), parseAccepted(options.accept))
      saved = await save(manifest, file, question)
    },
    get backup() {
      return saved
    },
  }
}

const noManifest = () => Promise.reject(new Error('the image-tag method has no manifest'))

async function fitting({ cx, options, plan, seen }: Question): Promise<LoadedManifest> {
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
    seen.installation.operator?.namespace ?? plan.owner.ref.namespace,
    options.rewriteNamespace ?? false,
  )
  const registry = registryToKeep(here, seen.installation.deployment, options.imageRegistry)
  return { manifest: registry ? fromRegistry(here, registry) : here, sha256 }
}

async function judge(manifest: Manifest, { cluster }: Question): Promise<readonly Finding[]> {
  return [
    ...extrasFindings(manifest),
    ...conflictFindings(await manifestChanges(cluster.reader, manifest.objects)),
  ]
}

/** Keeps what the first run saved: on resuming, half of it is replaced already. */
async function save(
  manifest: Manifest,
  file: string,
  { cx, plan, cluster }: Question,
): Promise<string | undefined> {
  const changes = await manifestChanges(cluster.reader, manifest.objects)
  if (changes.every(({ is }) => is === 'same')) return undefined
  const left = await notInManifest(cluster.reader, manifest).catch(() => [])
  if (left.length > 0)
    cx.printer.note(
      `not in the new manifest, and left where they are: ${left.map(({ kind, metadata }) => `${kind}/${metadata.name}`).join(', ')}`,
    )
  const exists = await cx.world.readText(file).then(
    () => true,
    () => false,
  )
  if (exists)
    cx.printer.note(`${file} is there already and is kept: it holds the objects from before the first run`)
  else
    await cx.world.writeText(
      file,
      backupOf(changes, { file, from: plan.from ?? 'unknown', to: plan.to.text }),
    )
  return file
}
