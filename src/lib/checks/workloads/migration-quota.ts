import type { ResourceQuota } from '../../facts/evidence.ts'
import { itemsOf } from '../../facts/known.ts'
import { quantity } from '../../system/quantity.ts'
import type { Check, Question } from '../check.ts'
import { counted } from '../../system/counted.ts'
import { someOf } from '../../system/some-of.ts'
import { instancesOf } from './instances-of.ts'

/** Facts 3.3, 8 (#14957): a migration has a second launcher pod beside the first, and both count. */
export const migrationQuota: Check = {
  id: 'migration-quota',
  group: 'workloads',
  title: 'no ResourceQuota is known to refuse the second pod of a migration',
  needs: ['quotas', 'instances'],
  blocks: false,
  assess(question) {
    const broken = itemsOf(question.evidence.quotas).flatMap((quota) => breach(quota, question))
    const [first] = broken
    if (!first) return []
    const { namespace, name } = first.quota.metadata
    return [
      {
        id: 'migration-quota',
        level: 'warning',
        summary: `${counted(broken.length, 'ResourceQuota', ['leaves', 'leave'])} no room for a migration: ${someOf(broken.map(({ text }) => text))}`,
        objects: broken.map(
          ({ quota: { metadata } }) => `resourcequota/${metadata.namespace}/${metadata.name}`,
        ),
        remedy: [`kubectl -n ${namespace} describe resourcequota ${name}`],
      },
    ]
  },
}

/** What the target pod of the namespace's largest VM asks for at least: overhead is not counted, nor how much CPU. */
const atLeastOf: Readonly<Record<string, (memory: number) => number>> = {
  pods: () => 1,
  'count/pods': () => 1,
  memory: (memory) => memory,
  'requests.memory': (memory) => memory,
  'limits.memory': (memory) => memory,
  cpu: () => 1e-3,
  'requests.cpu': () => 1e-3,
  'limits.cpu': () => 1e-3,
}

function breach(quota: ResourceQuota, question: Question): { quota: ResourceQuota; text: string }[] {
  const { namespace = '', name } = quota.metadata
  const memory = instancesOf(question).largestMemory[namespace]
  if (memory === undefined) return []
  const { hard = {}, used = {} } = quota.status ?? {}
  const over = Object.entries(hard).find(([resource, limit]) => {
    const needed = atLeastOf[resource]?.(memory)
    const [most, now] = [quantity(limit), quantity(used[resource] ?? '0')]
    return needed !== undefined && most !== undefined && now !== undefined && now + needed > most
  })
  if (!over) return []
  const [resource, limit] = over
  return [{ quota, text: `${namespace}/${name} (${resource}: ${used[resource] ?? '0'} of ${limit} used)` }]
}
