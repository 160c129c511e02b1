import { type Job, Jobs } from '../../cluster/kinds/apps.ts'
import { ConfigMaps } from '../../cluster/kinds/core.ts'
import type { CatalogSource } from '../../cluster/kinds/operator-lifecycle.ts'
import { condition } from '../../cluster/object.ts'
import type { Release } from './bundle-objects.ts'
import { msSince, type OlmContext, seconds } from './olm-context.ts'
import { unpackedBundle, unpackedName } from './plan-steps.ts'

/** A bundle's image is unpacked in so many ms. */
const unpacking = 4000
/** Then it is given up (ocp 2.2). */
const deadline = 600_000

export type Unpacked = { is: 'done' } | { is: 'under-way'; again: number } | { is: 'failed'; why: string }

/** How the unpacking of these releases stands that began at `since`; puts its result where steps refer to it. */
export async function unpack(
  cx: OlmContext,
  releases: readonly Release[],
  { since, source }: { since: string | undefined; source: CatalogSource },
): Promise<Unpacked> {
  for (const release of releases) {
    const why = await failureOf(cx, release)
    if (why !== undefined) return { is: 'failed', why }
  }
  const passed = since === undefined ? 0 : msSince(cx, since)
  const says = cx.faults.on.bundleUnpackFailed
  if (says !== undefined && passed >= deadline) return giveUp(cx, releases, says)
  if (says !== undefined) return { is: 'under-way', again: 5000 }
  if (passed < unpacking) return { is: 'under-way', again: unpacking - passed }
  if (cx.shape.manifests === 'referenced') for (const release of releases) await keep(cx, release, source)
  return { is: 'done' }
}

async function keep(cx: OlmContext, release: Release, source: CatalogSource): Promise<void> {
  const bundle = unpackedBundle(release, cx.shape, source)
  const found = await cx.reader.find(ConfigMaps, bundle.metadata)
  if (found.is === 'absent') await cx.writer.create(ConfigMaps, bundle)
}

/** A Job that failed is not tried again while it is there. */
async function failureOf(cx: OlmContext, release: Release): Promise<string | undefined> {
  const found = await cx.reader.find(Jobs, {
    name: unpackedName(release),
    namespace: cx.shape.sourceNamespace,
  })
  const failed = found.is === 'object' ? condition(found.object, 'Failed') : undefined
  if (failed?.status !== 'True') return undefined
  return `bundle unpacking failed. Reason: ${failed.reason}, and Message: ${failed.message}`
}

async function giveUp(cx: OlmContext, releases: readonly Release[], says: string): Promise<Unpacked> {
  for (const release of releases) {
    const { metadata } = await cx.writer.create(Jobs, jobOf(cx, release))
    const failed = {
      type: 'Failed',
      status: 'True',
      reason: 'DeadlineExceeded',
      message: `Job was active longer than specified deadline: ${says}`,
      lastTransitionTime: seconds(cx),
    } as const
    await cx.writer.mergePatch(Jobs, metadata, { status: { conditions: [failed] } }, 'status')
  }
  return { is: 'under-way', again: 0 }
}

function jobOf({ shape }: OlmContext, release: Release): Job {
  const name = unpackedName(release)
  const containers = [
    { name: 'extract', image: `registry.redhat.io/${release.package}-bundle:v${release.entry.version}` },
  ]
  return {
    apiVersion: Jobs.apiVersion,
    kind: Jobs.kind,
    metadata: {
      name,
      namespace: shape.sourceNamespace,
      labels: { 'olm.managed': 'true', 'operatorframework.io/bundle-unpack-ref': name },
    },
    spec: { backoffLimit: 3, template: { spec: { restartPolicy: 'Never', containers } } },
  }
}
