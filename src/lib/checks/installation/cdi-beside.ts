import { itemsOf } from '../../facts/known.ts'
import type { Check } from '../check.ts'

/** Night C7: the Containerized Data Importer has releases of its own. */
export const cdiBeside: Check = {
  id: 'cdi-beside',
  group: 'installation',
  title: 'no CDI beside KubeVirt has to be kept in step',
  needs: ['crds'],
  needsTarget: true,
  blocks: false,
  assess({ evidence, installation }) {
    const cdi = itemsOf(evidence.crds).filter(({ spec }) => spec?.group === 'cdi.kubevirt.io')
    if (cdi.length === 0 || installation.manager.kind === 'hyperconverged') return []
    return [
      {
        id: 'cdi-beside',
        level: 'info',
        summary: 'CDI is installed beside KubeVirt: kvup does not upgrade it, and it has releases of its own',
        objects: ['customresourcedefinition/datavolumes.cdi.kubevirt.io'],
        remedy: ["kubectl get cdi -o jsonpath='{.items[*].status.observedVersion}'"],
      },
    ]
  },
}
