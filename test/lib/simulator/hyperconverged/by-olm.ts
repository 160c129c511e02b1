import { onTestFinished } from 'vitest'
import { atVersion, condition } from '../../../../src/lib/kube/object.ts'
import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
} from '../../../../src/lib/kube/kinds/extension-kinds.ts'
import {
  type HyperConverged,
  HyperConvergeds,
  InstallPlans,
  type OperatorCondition,
  OperatorConditions,
  Subscriptions,
} from '../../../../src/lib/kube/kinds/operator-kinds.ts'
import { type KubeVirt, KubeVirts } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { SimClock } from '../../../../src/simulator/simulated-clock.ts'
import { okdOlm } from '../../../../src/simulator/olm/olm-shape.ts'
import { simulate, type Simulation } from '../../../../src/simulator/simulated-cluster.ts'

export const second = 1000
export const namespace = 'kubevirt-hyperconverged'
export const ref = { name: 'kubevirt-hyperconverged', namespace }

const only = async <T>(all: Promise<T[]>): Promise<T> => {
  const [first] = await all
  if (first === undefined) throw new Error('none')
  return first
}

/** A settled cluster whose HyperConverged 1.17.3 was installed by OLM, and is until the test ends. */
export async function clusterByOlm(more: Partial<Simulation> = {}) {
  const clock = new SimClock()
  const simulated = await simulate({ clock, olm: okdOlm(), ...more })
  onTestFinished(() => simulated.stop())
  const { reader, writer, reviewer } = simulated.cluster()
  const hyperconverged = (version = 'v1beta1'): Promise<HyperConverged> =>
    only(reader.list(atVersion(HyperConvergeds, version), { name: ref.name }))
  return {
    ...simulated,
    clock,
    reader,
    writer,
    reviewer,
    hyperconverged,
    kubevirt: (): Promise<KubeVirt> => only(reader.list(KubeVirts)),
    definition: (): Promise<CustomResourceDefinition> =>
      only(reader.list(CustomResourceDefinitions, { name: 'hyperconvergeds.hco.kubevirt.io' })),
    operatorCondition: (): Promise<OperatorCondition> => only(reader.list(OperatorConditions)),
    /** `Type=Status/Reason`. */
    says: async (type: string) => {
      const found = condition(await hyperconverged(), type)
      return found && `${found.status}/${found.reason}`
    },
    version: async () => (await hyperconverged()).status?.versions?.[0]?.version,
    /** The Subscription follows another channel, and what OLM then plans is approved. */
    async upgradeTo(channel: string): Promise<void> {
      await writer.mergePatch(Subscriptions, { name: 'hco-operatorhub', namespace }, { spec: { channel } })
      for (let looks = 0; looks < 60; looks++) {
        await clock.sleep(second)
        const plans = await reader.list(InstallPlans, { namespace })
        const due = plans.find((p) => p.status?.phase === 'RequiresApproval' && p.spec?.approved !== true)
        if (due === undefined) continue
        await writer.mergePatch(InstallPlans, due.metadata, { spec: { approved: true } })
        return
      }
      throw new Error('no plan')
    },
    /** Looks every second until it is so. Throws after that many seconds. */
    async until(what: string, seconds: number, so: () => Promise<boolean>): Promise<void> {
      for (let looks = 0; looks < seconds; looks++) {
        if (await so()) return
        await clock.sleep(second)
      }
      throw new Error(`not within ${seconds} s: ${what}`)
    },
  }
}

export type ClusterByOlm = Awaited<ReturnType<typeof clusterByOlm>>
