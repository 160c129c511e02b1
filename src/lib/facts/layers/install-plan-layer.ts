import { filled } from '../filled.ts'
import type { InstallPlanStanding } from '../operator-lifecycle/install-plan-standing.ts'
import type { SubscriptionStanding } from '../operator-lifecycle/subscription-standing.ts'
import type { Layer } from './layer.ts'

type Judged = Pick<Layer, 'verdict' | 'says' | 'waitsFor' | 'help' | 'notes'>
type Judge = (plan: InstallPlanStanding, of: SubscriptionStanding) => Judged

/** Undefined once it is done: that proves no more than that what it holds was written (ocp 9.10). */
export function installPlanLayer(plan: InstallPlanStanding, of: SubscriptionStanding): Layer | undefined {
  if (plan.state === 'done') return undefined
  return {
    layer: 'install-plan',
    object: `installplan/${plan.name}`,
    ...judges[plan.state](plan, of),
    ...filled({ since: plan.startedAt }),
  }
}

const installs = ({ name, csvs }: InstallPlanStanding): string => `${name} installs ${csvs.join(', ')}`

const said = ({ message }: InstallPlanStanding): string[] => (message === '' ? [] : [message])

const judges: Record<Exclude<InstallPlanStanding['state'], 'done'>, Judge> = {
  preparing: (plan) => ({ verdict: 'Updating', says: installs(plan), waitsFor: 'OLM to fill it in' }),
  'needs-approval': (plan, of) => ({
    verdict: 'Waiting',
    says: installs(plan),
    waitsFor: 'approval, of all that it installs together',
    help: [`kubectl -n ${plan.namespace} describe installplans ${plan.name}`],
    ...(of.approval === 'Automatic' && {
      notes: ['its Subscription is Automatic: another one in the namespace makes every plan there manual'],
    }),
  }),
  approved: (plan) => ({ verdict: 'Updating', says: installs(plan), waitsFor: 'OLM to begin' }),
  installing: (plan) => ({
    verdict: 'Updating',
    says: installs(plan),
    waitsFor: 'OLM to write what it holds',
    notes: said(plan),
  }),
  failed: (plan) => ({
    verdict: 'Degraded',
    says: `${plan.name} failed, and OLM does not try it again`,
    notes: said(plan),
    help: [`kubectl -n ${plan.namespace} describe installplans ${plan.name}`],
  }),
}
