import { holds } from '../../cluster/rights-in.ts'
import type { Check } from '../check.ts'
import { operatorMay, operatorWould } from './operator-roles.ts'

/** Lab 13, facts 2.2: an operator may only grant what it holds itself; a tag gives it no rights. The target's own operator came with them. */
export const operatorRights: Check = {
  id: 'operator-rights',
  group: 'rights',
  title: 'virt-operator holds the rights that the target grants its components',
  needs: ['operatorRoles'],
  needsTarget: true,
  blocks: true,
  assess(question) {
    const { method, manifest, target, standing } = question
    if (method !== 'image-tag') return []
    if (manifest === undefined)
      return standing.operator?.version === target?.text ? [] : [notCompared(target?.text ?? 'VERSION')]
    const may = operatorMay(question)
    const lacks = [...operatorWould(manifest)].filter((right) => !holds(may, right))
    if (lacks.length === 0) return []
    return [
      {
        id: 'operator-rights',
        level: 'blocker',
        summary: `virt-operator lacks ${lacks.length} rights of ${target?.text}, so it may not grant them and KubeVirt would end Available=False: ${lacks.slice(0, 3).join(', ')}`,
        objects: lacks,
        remedy: [`kvup upgrade --to ${target?.text} --method operator-manifest`],
      },
    ]
  },
}

const notCompared = (to: string) =>
  ({
    id: 'operator-rights',
    level: 'info',
    summary:
      'the rights of virt-operator were not compared with those of the target: its manifest was not given',
    remedy: [
      `kvup check --to ${to} --manifest https://github.com/kubevirt/kubevirt/releases/download/${to}/kubevirt-operator.yaml`,
    ],
  }) as const
