import type { Cause } from './cause.ts'
import { pullFailure } from './pull-failure.ts'
import { strategyComponent } from './stamps.ts'

type Worded = Pick<Cause, 'sentence' | 'look'>
type Unworded = Omit<Cause, keyof Worded>

/** One sentence a person can act on, and the commands that show more. */
export function troubleSentence(cause: Unworded): Worded {
  const sentence = words[cause.kind](cause, subject(cause))
  return { sentence, look: looks(cause) }
}

const words: Record<Cause['kind'], (cause: Unworded, who: string) => string> = {
  image: ({ image = 'its image', message, reason }, who) =>
    `${who} cannot pull ${image}: ${pullFailure(message ?? '') ?? reason}`,
  crash: ({ message, reason }, who) =>
    `${who} keeps failing (${reason}${message ? `, ${firstLine(message)}` : ''})`,
  container: ({ message, reason }, who) => `${who} cannot start: ${firstLine(message) ?? reason}`,
  unschedulable: ({ message, reason }, who) => `${who} finds no node: ${firstLine(message) ?? reason}`,
  node: ({ nodes, component }) =>
    `${component} on ${listed(nodes)}: ${nodes.length > 1 ? 'these nodes are' : 'the node is'} NotReady`,
  terminating: (_, who) => `${who} does not go away (terminating)`,
  'not-ready': ({ message, reason }, who) => `${who} is not ready: ${firstLine(message) ?? reason}`,
  refused: ({ component, message }) =>
    `pods of ${component === strategyComponent ? `the ${component}` : component} cannot be created: ${message ?? 'refused'}`,
  quiet: ({ message }) => `nothing changes any more: ${message ?? 'no reason was found'}`,
  failed: ({ message }) => `virt-operator cannot go on: ${message ?? 'DeploymentFailed'}`,
  forbidden: ({ message }) =>
    `virt-operator may not grant what the new version needs: ${message ?? 'forbidden'}`,
}

/** A node says more than a pod's random end, where the pod has one. */
function subject({ component, nodes, pods }: Unworded): string {
  if (component === strategyComponent) return `pod ${pods[0] ?? ''} of the ${component}`
  if (nodes.length > 0) return `${component} on ${listed(nodes)}`
  return pods.length > 1 ? `${pods.length} pods of ${component}` : `pod ${pods[0] ?? component}`
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 3)
  const rest = names.length - shown.length
  if (rest > 0) return `${shown.join(', ')} and ${rest} more`
  return shown.length > 1 ? `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}` : (shown[0] ?? '')
}

function looks({ kind, namespace, pods, nodes }: Unworded): string[] {
  const [pod, node] = [pods[0], nodes[0]]
  if (kind === 'node' && node) return [`kubectl describe node ${node}`]
  if (kind === 'crash' && pod) return [`kubectl -n ${namespace} logs ${pod} --previous`]
  return pod ? [`kubectl -n ${namespace} describe pod ${pod}`] : []
}

function firstLine(text: string | undefined): string | undefined {
  return text?.split('\n', 1)[0]?.trim().replace(/\.$/, '') || undefined
}
