import { atVersion, type Kind } from '../../cluster/kind.ts'
import { CustomResourceDefinitions } from '../../cluster/kinds/extension.ts'
import { type HyperConverged, HyperConvergeds } from '../../cluster/kinds/hyperconverged.ts'
import { KubeVirts } from '../../cluster/kinds/kubevirt.ts'
import type { KubeObject } from '../../cluster/object.ts'
import { same } from '../api/json.ts'
import { Refusal } from '../api/refusal.ts'
import { control } from '../machinery/controller.ts'
import { lead } from '../machinery/leader.ts'
import { recordEvent } from '../machinery/record-event.ts'
import { type Told, troubleOf } from './component-conditions.ts'
import { components } from './component-kinds.ts'
import { isHighlyAvailable } from './highly-available.ts'
import { names } from './names.ts'
import { ensureOperands, type Operands } from './operands.ts'
import { sayUpgradeable, upgradeable } from './operator-condition.ts'
import { look, type SelfContext } from './operator-self.ts'
import { aggregated, failedConditions, initialConditions } from './own-conditions.ts'
import { report } from './own-status.ts'
import { patchedForUpgrade } from './upgrade-patches.ts'
import { shapeOf } from './versions.ts'

/** The program of an hco-operator pod: waits for the Lease, then keeps KubeVirt and its companions as the HyperConverged says (ocp 1). */
export async function runHyperConvergedOperator(cx: SelfContext): Promise<void> {
  const { name: identity, namespace } = cx.self
  const stopped = () => cx.faults.on.hyperConvergedStopped === true
  const candidate = { lease: 'hyperconverged-cluster-operator-lock', namespace, identity, stopped }
  await sayUpgradeable(cx, upgradeable.starting)
  await lead(cx, candidate, (signal) => operate({ ...cx, signal }))
}

function operate(cx: SelfContext): Promise<void> {
  const { namespace } = cx.self
  const watched = [
    { kind: HyperConvergeds, where: { namespace } },
    { kind: KubeVirts, where: { namespace } },
    { kind: CustomResourceDefinitions, where: { name: names.definition } },
    ...components.map(({ kind }) => ({ kind })),
  ]
  const passes = new Passes(cx)
  return control(cx, watched, () => passes.next())
}

/** The passes of one process, one after the other. That an upgrade goes on it only knows in memory (ocp 1.5). */
class Passes {
  readonly #cx: SelfContext
  #upgrading: boolean | undefined

  constructor(cx: SelfContext) {
    this.#cx = cx
  }

  async next(): Promise<number> {
    const cx = this.#cx
    const kind = await storedKind(cx)
    if (kind === 'not converted') return 1000
    const found = await cx.reader.find(kind, { name: names.hyperconverged, namespace: cx.self.namespace })
    if (found.is !== 'object' || found.object.metadata.deletionTimestamp !== undefined) {
      await sayUpgradeable(cx, upgradeable.yes)
      return look
    }
    const hyperconverged = found.object
    if (hyperconverged.status?.conditions === undefined) return this.#begin(kind, hyperconverged)
    if (await this.#isBehind(hyperconverged))
      await sayUpgradeable(cx, upgradeable.upgradingTo(cx.self.version))
    if (await rewrite(cx, kind, hyperconverged, this.#upgrading === true)) return 100
    return this.#reconcile(kind, hyperconverged)
  }

  /** Its release is said at once: it proves nothing (ocp 1.5). */
  async #begin(kind: Kind<HyperConverged>, hyperconverged: HyperConverged): Promise<number> {
    const infrastructureHighlyAvailable = await isHighlyAvailable(this.#cx)
    const more = { version: this.#cx.self.version, infrastructureHighlyAvailable }
    await report(this.#cx, kind, hyperconverged, { conditions: initialConditions, upgrading: false, ...more })
    return 100
  }

  async #isBehind(hyperconverged: HyperConverged): Promise<boolean> {
    if (this.#upgrading !== undefined) return this.#upgrading
    const { version } = this.#cx.self
    this.#upgrading = operatorVersion(hyperconverged) !== version
    if (this.#upgrading)
      await this.#tell(hyperconverged, `Upgrading the HyperConverged to version ${version}`)
    return this.#upgrading
  }

  async #reconcile(kind: Kind<HyperConverged>, hyperconverged: HyperConverged): Promise<number> {
    const cx = this.#cx
    try {
      const error = cx.faults.on.reconcileError
      if (error !== undefined) throw new Failed(error)
      const operands = await ensureOperands(cx, hyperconverged, this.#upgrading === true)
      await this.#conclude(kind, hyperconverged, operands)
    } catch (error) {
      if (!(error instanceof Failed || isRefused(error))) throw error
      const conditions = failedConditions(error.message)
      await report(cx, kind, hyperconverged, { conditions, upgrading: this.#upgrading === true })
    }
    return look
  }

  async #conclude(
    kind: Kind<HyperConverged>,
    hyperconverged: HyperConverged,
    { told, upgraded, objects }: Operands,
  ): Promise<void> {
    const cx = this.#cx
    const { version } = cx.self
    const trouble = troubleOf(told)
    const finished = this.#upgrading === true && upgraded && trouble.size === 0
    if (finished) this.#upgrading = false
    const upgrading = this.#upgrading === true
    const conditions = aggregated(trouble, upgrading ? version : undefined)
    const said = { conditions, upgrading, objects, ...(finished ? { version } : {}) }
    await report(cx, kind, hyperconverged, said)
    if (finished) await this.#tell(hyperconverged, `Successfully upgraded to version ${version}`)
    await sayUpgradeable(cx, upgrading ? upgradeable.upgradingTo(version) : mayBeReplaced(told))
  }

  #tell(about: KubeObject, message: string): Promise<void> {
    const by = 'hyperconverged-cluster-operator'
    return recordEvent(this.#cx, about, { type: 'Normal', reason: 'UpgradeHCO', message, by })
  }
}

/** A pass that ends in an error which it reports. */
class Failed extends Error {
  override readonly name = 'Failed'
}

/** A jsonpatch annotation that does not apply; what others wrote meanwhile is looked at again. */
const isRefused = (error: unknown): error is Refusal => error instanceof Refusal && error.status === 422

/** Neither progressing nor degraded components keep OLM from replacing it: only one that says so itself (ocp 1.8). */
function mayBeReplaced(told: readonly Told[]) {
  const held = told.filter(({ conditions }) =>
    conditions.some(({ type, status }) => type === 'Upgradeable' && status === 'False'),
  )
  const condition = troubleOf(held).get('Upgradeable')
  if (condition === undefined) return upgradeable.yes
  const { reason = '', message = '' } = condition
  return { status: 'False', reason, message } as const
}

const operatorVersion = ({ status }: HyperConverged): string | undefined =>
  status?.versions?.find(({ name }) => name === 'operator')?.version

/** In the version that is stored; where nobody converts between several, neither read nor written. */
async function storedKind({ reader }: SelfContext): Promise<Kind<HyperConverged> | 'not converted'> {
  const found = await reader.find(CustomResourceDefinitions, { name: names.definition })
  if (found.is !== 'object') return HyperConvergeds
  const { stored, served, conversion } = shapeOf(found.object)
  const isConverted = conversion === 'Webhook' || served.length === 1
  return isConverted ? atVersion(HyperConvergeds, stored) : 'not converted'
}

const finalizer = 'kubevirt.io/hyperconverged'

/** What the operator changes of the CR itself: its label and finalizer, and once per upgrade the spec. True where it wrote. */
async function rewrite(
  cx: SelfContext,
  kind: Kind<HyperConverged>,
  hyperconverged: HyperConverged,
  upgrading: boolean,
): Promise<boolean> {
  const { metadata, spec = {} } = hyperconverged
  const { name, namespace, labels = {}, finalizers = [] } = metadata
  const from = operatorVersion(hyperconverged) ?? '0.0.0'
  const next = upgrading ? patchedForUpgrade({ ...spec }, from, cx.self.version) : spec
  if (labels['app'] !== undefined && finalizers.includes(finalizer) && same(spec, next)) return false
  await cx.writer.mergePatch(
    kind,
    { name, namespace },
    {
      metadata: {
        labels: { app: name },
        finalizers: [...new Set([...finalizers, finalizer])],
      },
      ...(same(spec, next) ? {} : { spec: next }),
    },
  )
  return true
}
