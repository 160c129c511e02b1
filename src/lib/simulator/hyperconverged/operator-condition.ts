import { OperatorConditions } from '../../cluster/kinds/operator-lifecycle.ts'
import type { Condition } from '../../cluster/object.ts'
import { type SelfContext, seconds } from './operator-self.ts'

type Said = Pick<Condition, 'status' | 'reason' | 'message'>

/** What the operator says to OLM of its being replaced (ocp 1.8). */
export const upgradeable = {
  starting: {
    status: 'False',
    reason: 'Initializing',
    message: 'The hyperConverged cluster operator is starting up',
  },
  yes: { status: 'True', reason: 'Upgradeable', message: '' },
  upgradingTo: (version: string): Said => ({
    status: 'False',
    reason: 'AlreadyPerformingUpgrade',
    message: `upgrading the hyperConverged cluster operator to version ${version}`,
  }),
} as const

/** Writes it into its OperatorCondition; nothing where that says so already, is not there yet, or OLM does not run it. */
export async function sayUpgradeable(cx: SelfContext, said: Said): Promise<void> {
  const { condition: name, namespace } = cx.self
  if (name === undefined) return
  const found = await cx.reader.find(OperatorConditions, { name, namespace })
  if (found.is !== 'object') return
  const before = found.object.spec?.conditions ?? []
  const last = before.find(({ type }) => type === 'Upgradeable')
  if (last && says(last, said)) return
  const since = last?.status === said.status ? last.lastTransitionTime : undefined
  const next: Condition = { type: 'Upgradeable', ...said, lastTransitionTime: since ?? seconds(cx) }
  const conditions = [...before.filter(({ type }) => type !== 'Upgradeable'), next]
  await cx.writer.mergePatch(OperatorConditions, { name, namespace }, { spec: { conditions } })
}

const says = (last: Condition, { status, reason, message }: Said): boolean =>
  last.status === status && last.reason === reason && last.message === message
