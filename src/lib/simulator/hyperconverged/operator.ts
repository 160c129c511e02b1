import { atVersion } from '../../cluster/kind.ts'
import { type HyperConverged, HyperConvergeds } from '../../cluster/kinds/hyperconverged.ts'
import { type KubeVirt, KubeVirts } from '../../cluster/kinds/kubevirt.ts'
import { isJson, type Json, same } from '../api/json.ts'
import { control, type ControllerContext } from '../machinery/controller.ts'
import type { Faults } from '../machinery/faults.ts'
import type { OperatorFaults } from '../virt-operator/faults.ts'
import type { HyperConvergedShape } from './versions.ts'

/** Copies how VMs follow to the KubeVirt that it made, and sets back what others write there (hco 5). */
export function runHyperConverged(
  cx: ControllerContext,
  { stored }: HyperConvergedShape,
  faults: Faults<OperatorFaults>,
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

/** An empty list of methods is passed on as none at all. */
function specFor({ spec = {} }: HyperConverged, kubevirt: KubeVirt): Json {
  const from = isJson(spec['virtualization']) ? spec['virtualization'] : spec
  const { workloadUpdateMethods, ...batches } = jsonOf(from['workloadUpdateStrategy'])
  const empty = !Array.isArray(workloadUpdateMethods) || workloadUpdateMethods.length === 0
  return {
    ...kubevirt.spec,
    workloadUpdateStrategy: { ...batches, ...(empty ? {} : { workloadUpdateMethods }) },
    configuration: { ...kubevirt.spec?.configuration, migrations: jsonOf(from['liveMigrationConfig']) },
  }
}

const jsonOf = (value: unknown): Json => (isJson(value) ? value : {})
