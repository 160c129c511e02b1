import type { Cause } from './cause.ts'
import { strategyComponent } from './stamps.ts'

/** Whom a sentence is about. */
export interface Subject {
  who: string
  /** The form of a verb: one finds no node, several find none. */
  verb: (one: string, several: string) => string
}

const one = (who: string): Subject => ({ who, verb: (singular) => singular })
const several = (who: string): Subject => ({ who, verb: (_, plural) => plural })

/** A node says more than a pod's random end, where the pod has one; of many the number and three examples. */
export function subjectOf({
  component,
  components = [component],
  nodes,
  pods,
}: Pick<Cause, 'component' | 'components' | 'nodes' | 'pods'>): Subject {
  const who = listed(components)
  if (who === strategyComponent) return ofTheJob(pods)
  const where = nodes.length > 3 ? counted(nodes, 'nodes') : listed(nodes)
  if (nodes.length > 0) return (components.length > 1 ? several : one)(`${who} on ${where}`)
  return pods.length > 1 ? several(counted(pods, `pods of ${who}`)) : one(`pod ${pods[0] ?? component}`)
}

function ofTheJob([first = '', ...others]: readonly string[]): Subject {
  const pod = `pod ${first} of the ${strategyComponent}`
  return others.length > 0 ? several(`${pod} and ${others.length} more`) : one(pod)
}

/** `40 nodes (worker-1, worker-2, worker-3, …)`. */
function counted(names: readonly string[], what: string): string {
  return `${names.length} ${what} (${names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''})`
}

function listed(names: readonly string[]): string {
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : (names[0] ?? '')
}
