import * as kube from '../kinds.ts'
import { type ControllerContext, foundIn, seconds } from '../machinery/controller.ts'
import type { Faults } from '../machinery/machinery-faults.ts'
import { fillTemplate } from '../placeholders.ts'
import type { Condition } from '../../lib/kube/object.ts'
import data from './hyperconverged.json' with { type: 'json' }

/** What a process of a bundle's operators knows of itself, by its environment. */
interface OperatorSelf {
  /** The pod's name. */
  name: string
  namespace: string
  /** Of the bundle: `1.17.3`. */
  version: string
  /** The KubeVirt that it brings: `v1.7.4`. */
  kubevirt: string
  /** The OperatorCondition that is its own; absent where OLM does not run it. */
  condition: string | undefined
}

/** One of the operators that a bundle of HyperConverged installs, at work. */
export interface Self extends ControllerContext {
  readonly self: OperatorSelf
  readonly faults: Faults<HyperConvergedFaults>
}

export function selfContext(
  cx: ControllerContext,
  { metadata, spec }: kube.Pod,
  faults: Faults<HyperConvergedFaults>,
): Self {
  const env = new Map((spec?.containers?.[0]?.env ?? []).map(({ name, value }) => [name, value]))
  const self = {
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    version: env.get('HCO_KV_IO_VERSION') ?? '0.0.0',
    kubevirt: env.get('KUBEVIRT_VERSION') ?? '',
    condition: env.get('OPERATOR_CONDITION_NAME'),
  }
  return { ...cx, self, faults }
}

type Words = Readonly<Record<string, string>>

/** A part of hyperconverged.json with these words in it. */
export const hyperConvergedData = <T>(template: unknown, words: Words): T =>
  fillTemplate(template, { word: (name) => words[name] ?? '' })

/** Conditions of hyperconverged.json; when they changed last is for who writes them to say. */
export const stated = (name: keyof typeof data.conditions, words: Words = {}): Condition[] =>
  hyperConvergedData(data.conditions[name], words)

/** Writes into its OperatorCondition what the operator says to OLM of its being replaced (ocp 1.8); nothing where that says so already, is not there yet, or OLM does not run it. */
export async function sayUpgradeable(cx: Self, [said]: readonly Condition[]): Promise<void> {
  const { condition: name, namespace } = cx.self
  if (name === undefined || said === undefined) return
  const found = foundIn(await cx.reader.get(kube.OperatorConditions, { name, namespace }))
  const before = found?.spec?.conditions ?? []
  const last = before.find(({ type }) => type === said.type)
  const isSaid = last?.status === said.status && last.reason === said.reason && last.message === said.message
  if (found === undefined || isSaid) return
  const since = last?.status === said.status ? last.lastTransitionTime : undefined
  const next: Condition = { ...said, lastTransitionTime: since ?? seconds(cx) }
  const conditions = [...before.filter(({ type }) => type !== said.type), next]
  await cx.writer.mergePatch(kube.OperatorConditions, { name, namespace }, { spec: { conditions } })
}

/** What goes wrong with HyperConverged: its operator, its webhook, and the components beside KubeVirt. Plain data. */
export interface HyperConvergedFaults {
  /** Its operator hangs: nothing is passed on to KubeVirt, nothing set back, nothing said. */
  hyperConvergedStopped?: boolean | undefined
  /** Each of its passes ends in this error, in its words (ocp 1.5). */
  reconcileError?: string | undefined
  /** What components other than KubeVirt say of themselves, for as long as it is on. */
  components?: readonly ComponentFault[] | undefined
  /** Its webhook refuses each change: nobody answers it, or the webhook of a component that it tries the change on (hco 7). */
  changesRefused?: 'nobody-answers' | 'dry-run-fails' | undefined
  /** The conversion is missing from the CRD, and hco-webhook does not put it back (hco 8). */
  conversionLost?: boolean | undefined
}

interface ComponentFault {
  readonly component: 'CDI' | 'NetworkAddonsConfig' | 'SSP'
  readonly is: 'progressing' | 'degraded' | 'unavailable' | 'not-upgradeable'
  /** In its words. */
  readonly message: string
}
