import { createHash } from 'node:crypto'
import { ConfigMaps } from '../../../cluster/kinds/core.ts'
import {
  type MachineConfig,
  type MachineConfigPool,
  MachineConfigPools,
  MachineConfigs,
} from '../../../cluster/kinds/openshift.ts'
import type { KubeObject } from '../../../cluster/object.ts'
import { control } from '../../machinery/controller.ts'
import { ownerReference } from '../../machinery/pods.ts'
import { roleLabel } from '../objects.ts'
import type { PlatformContext } from '../platform-context.ts'
import type { Release } from '../shape.ts'
import { renderNote } from './names.ts'
import { machineRelease, releaseImages } from './release-images.ts'

/** Makes one MachineConfig of each pool's sources and release, and has the pool ask for it; a paused one too (ocp 3.5). */
export function runRender(cx: PlatformContext): Promise<void> {
  const { namespace } = releaseImages
  const watched = [
    { kind: MachineConfigPools },
    { kind: MachineConfigs, concerns: isSource },
    { kind: ConfigMaps, where: { namespace } },
  ]
  return control(cx, watched, async () => {
    const release = await machineRelease(cx)
    if (!release) return undefined
    const sources = (await cx.reader.list(MachineConfigs)).filter(isSource)
    for (const pool of await cx.reader.list(MachineConfigPools)) await render(cx, pool, { release, sources })
    return undefined
  })
}

const isSource = ({ metadata }: KubeObject): boolean => metadata.annotations?.[renderNote.by] === undefined

async function render(
  cx: PlatformContext,
  pool: MachineConfigPool,
  { release, sources }: { release: Release; sources: readonly MachineConfig[] },
): Promise<void> {
  const own = sources.filter((source) => selects(pool, source))
  const content = digest([release.version, own.map(({ spec }) => spec)])
  const name = `rendered-${pool.metadata.name}-${content}`
  if (pool.spec?.configuration?.name === name) return
  const found = await cx.reader.find(MachineConfigs, { name })
  if (found.is === 'absent')
    await cx.writer.create(MachineConfigs, rendered(pool, name, { release, content }))
  const source = own.map(({ metadata }) => ({
    apiVersion: MachineConfigs.apiVersion,
    kind: MachineConfigs.kind,
    name: metadata.name,
  }))
  await cx.writer.mergePatch(MachineConfigPools, pool.metadata, { spec: { configuration: { name, source } } })
}

const digest = (of: unknown): string => createHash('md5').update(JSON.stringify(of)).digest('hex')

/** Only what pools here select by: the role, equal or one of several. */
function selects({ spec }: MachineConfigPool, { metadata }: MachineConfig): boolean {
  const { matchLabels = {}, matchExpressions = [] } = spec?.machineConfigSelector ?? {}
  const role = metadata.labels?.[roleLabel]
  if (role === undefined) return false
  const wanted = matchLabels[roleLabel]
  const among = matchExpressions.find(({ key }) => key === roleLabel)
  return wanted === undefined ? (among?.values ?? []).includes(role) : wanted === role
}

function rendered(
  pool: MachineConfigPool,
  name: string,
  { release, content }: { release: Release; content: string },
): MachineConfig {
  return {
    apiVersion: MachineConfigs.apiVersion,
    kind: MachineConfigs.kind,
    metadata: {
      name,
      annotations: {
        [renderNote.by]: release.version,
        [renderNote.release]: release.version,
        [renderNote.content]: content,
      },
      ownerReferences: [ownerReference(pool)],
    },
    spec: { osImageURL: release.image, config: { ignition: { version: '3.4.0' } } },
  }
}
