import { atVersion } from '../../cluster/kind.ts'
import { type HyperConverged, HyperConvergeds } from '../../cluster/kinds/hyperconverged.ts'
import { type KubeVirt, KubeVirts } from '../../cluster/kinds/kubevirt.ts'
import { type Json, same } from '../api/json.ts'
import { control, type ControllerContext } from '../machinery/controller.ts'
import type { Faults } from '../machinery/faults.ts'
import type { HyperConvergedFaults } from './faults.ts'
import { passedOn } from './passed-on.ts'
import type { HyperConvergedShape } from './versions.ts'

/** Where no OLM runs the operator: copies how VMs follow to the KubeVirt, and sets back what others write there (hco 5). */
export function runHyperConverged(
  cx: ControllerContext,
  { stored }: HyperConvergedShape,
  faults: Faults<HyperConvergedFaults>,
): Promise<void> {
  const kind = atVersion(HyperConvergeds, stored)
  return control(cx, [{ kind }, { kind: KubeVirts }], async () => {
    if (faults.on.hyperConvergedStopped === true) return 1000
    const [hyperconverged] = await cx.reader.list(kind)
    const [kubevirt] = await cx.reader.list(KubeVirts)
    if (!hyperconverged || !kubevirt) return undefined
    const spec = specFor(hyperconverged, kubevirt)
    if (same(kubevirt.spec, spec)) return undefined
    const { name, namespace } = kubevirt.metadata
    await cx.writer.jsonPatch(KubeVirts, { name, namespace }, [{ op: 'replace', path: '/spec', value: spec }])
    return undefined
  })
}

function specFor(hyperconverged: HyperConverged, kubevirt: KubeVirt): Json {
  const { workloadUpdateStrategy, migrations } = passedOn(hyperconverged)
  return {
    ...kubevirt.spec,
    workloadUpdateStrategy,
    configuration: { ...kubevirt.spec?.configuration, migrations },
  }
}
