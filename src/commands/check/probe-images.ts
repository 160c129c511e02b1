import { randomBytes } from 'node:crypto'
import type { Context } from '../../context.ts'
import type { Question } from '../../lib/checks/check-definition.ts'
import type { KubeObject } from '../../lib/kube/object.ts'
import type { FullSnapshot, ImageProbe } from '../../lib/kubevirt/full-snapshot.ts'
import { operatorManifest } from '../../lib/manifests/manifest.ts'
import { fromRegistry, registryToKeep } from '../../lib/manifests/image-registry.ts'
import { spanText } from '../../lib/kube/duration.ts'
import { ensureRights } from '../../lib/engine/change.ts'
import type { Version } from '../../lib/releases/release-versions.ts'
import { nodePools, planProbes, type ProbePlan } from '../../lib/checks/probes/probe-plan.ts'
import { probeLabel, ProbePods, runProbes } from '../../lib/checks/probes/probe-run.ts'
import { targetImages } from '../../lib/checks/probes/target-images.ts'
import { blocked } from '../../lib/kube/errors.ts'
import { probeAccess } from '../../lib/upgrade/roles.ts'

/** What is asked about, the target and its manifest included. */
export type ProbeQuestion = Question & { target: Version; manifest: readonly KubeObject[] }

/**
 * Asks, then tries every image of the target on each pool of nodes (night C6). Throws `forbidden` (7) before anything is written, `blocked` (3)
 * where the answer is no.
 */
export async function probeImages(
  cx: Context,
  question: ProbeQuestion,
): Promise<NonNullable<FullSnapshot['probes']>> {
  const unread = unreadOf(question.snapshot)
  if (unread !== undefined) return { known: false, why: unread }
  const plan = planOf(question)
  const { namespace } = question.installation
  const cluster = await cx.cluster()
  const needed = probeAccess(namespace).map(({ access }) => access)
  await ensureRights(cluster.reviewer, { required: needed, role: 'kvup-upgrade' })
  if (!(await cx.prompt.confirm(wordsOf(plan, namespace))))
    throw blocked('answered-no', 'Canceled. Nothing was changed.')
  const run = randomBytes(4).toString('hex')
  const left = await new ProbePods(cluster, { namespace, run }).removeLeft(cx.clock.now())
  if (left > 0) cx.printer.note(`removed ${left} pods that an earlier probe left behind`)
  const work = { probes: plan.probes, namespace, run }
  const results = await runProbes(work, { ...environmentOf(cx, work), cluster })
  return { known: true, items: [...results, ...plan.untried] }
}

/** Without them nobody knows where to try. */
function unreadOf({ nodes, pods }: FullSnapshot): string | undefined {
  const unread = [nodes, pods].find((part) => !part.known)
  return unread && !unread.known ? unread.why : undefined
}

function planOf(question: ProbeQuestion): ProbePlan {
  const { installation, target, method } = question
  const manifest = operatorManifest(question.manifest, 'the manifest')
  const registry = registryToKeep(manifest, installation.deployment)
  const { operator } = registry ? fromRegistry(manifest, registry) : manifest
  const running = method === 'image-tag' ? installation.deployment : undefined
  const images = targetImages({
    ...question,
    operator: running ?? operator,
    replacesOperator: running === undefined,
  })
  return planProbes(images, nodePools(question, target))
}

function wordsOf({ probes }: ProbePlan, namespace: string): string {
  const images = new Set(probes.map(({ image }) => image)).size
  const nodes = [...new Set(probes.map(({ node }) => node))]
  return `Try ${images} images on ${nodes.join(', ')}, with ${probes.length} pods in namespace ${namespace} that run nothing and are removed?`
}

interface Work {
  probes: readonly unknown[]
  namespace: string
  run: string
}

/** The story: a line for each image, and one where nothing happens for long. */
function environmentOf({ clock, signal, printer }: Context, { probes, namespace, run }: Work) {
  let done = 0
  return {
    clock,
    signal,
    told: (result: ImageProbe, took: number) =>
      printer.note(`${++done}/${probes.length} ${became(result)}, after ${spanText(took)}`),
    still: (images: readonly string[]) => printer.note(`still waiting for ${images.join(', ')}`),
    left: (error: unknown) =>
      printer.warn(
        `pods of the probe could not be removed, Kubernetes ends them: ${error instanceof Error ? error.message : String(error)}\n  kubectl -n ${namespace} delete pods -l ${probeLabel}=${run}`,
      ),
  }
}

function became({ image, node, is, why = '' }: ImageProbe): string {
  const words = { pulled: 'is there', refused: 'cannot be pulled', untried: 'could not be tried' }[is]
  return `${image} on ${node} ${words}${why && `: ${why}`}`
}
