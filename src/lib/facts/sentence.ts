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
  crash: ({ message, reason, lastLog }, who) =>
    `${who} keeps failing (${reason}${message ? `, ${firstLine(message)}` : ''})${logged(message, lastLog)}`,
  container: ({ message, reason }, who) => `${who} cannot start: ${firstLine(message) ?? reason}`,
  unschedulable: ({ message, reason }, who) => `${who} finds no node: ${firstLine(message) ?? reason}`,
  node: ({ nodes }, who) => `${who}: ${nodes.length > 1 ? 'these nodes are' : 'the node is'} NotReady`,
  terminating: (_, who) => `${who} does not go away (terminating)`,
  'not-ready': ({ message, reason }, who) => `${who} is not ready: ${firstLine(message) ?? reason}`,
  refused: ({ component, message }) =>
    `pods of ${component === strategyComponent ? `the ${component}` : component} cannot be created: ${message ?? 'refused'}`,
  quiet: ({ message, lastLog }) =>
    `nothing changes any more: ${message ?? 'no reason was found'}${lastLog ? `; virt-operator logs "${lastLog}"` : ''}`,
  failed: ({ message }) => `virt-operator cannot go on: ${message ?? 'DeploymentFailed'}`,
  webhook: ({ message }) => `virt-operator cannot go on: ${message ?? 'a webhook refuses'}`,
  forbidden: ({ message }) => `virt-operator ${message ?? 'is forbidden to go on'}`,
  'stored-versions': ({ message }) =>
    `the API server refuses a new CRD: ${message ?? 'a stored version is missing in it'}, which the new version drops`,
  canary: ({ message }) => `virt-operator stopped the roll: ${message ?? 'the canary failed'}`,
  misscheduled: ({ message }, who) =>
    `${who} is where its DaemonSet does not want it: ${message ?? 'a taint'}`,
}

/** What the log adds to what the container's end said already. */
function logged(message = '', lastLog: string | undefined): string {
  return lastLog === undefined || message.includes(lastLog) ? '' : `, last log line: "${lastLog}"`
}

/** A node says more than a pod's random end, where the pod has one. */
function subject({ component, components = [component], nodes, pods }: Unworded): string {
  if (component === strategyComponent && components.length === 1)
    return pods.length > 1
      ? `${counted(pods, 'pods')} of the ${component}`
      : `pod ${pods[0] ?? ''} of the ${component}`
  const who = listed(components)
  if (nodes.length > 0) return `${who} on ${nodes.length > 3 ? counted(nodes, 'nodes') : listed(nodes)}`
  return pods.length > 1 ? counted(pods, `pods of ${who}`) : `pod ${pods[0] ?? component}`
}

/** `40 nodes (worker-1, worker-2, worker-3, …)`. */
function counted(names: readonly string[], what: string): string {
  return `${names.length} ${what} (${names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''})`
}

function listed(names: readonly string[]): string {
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : (names[0] ?? '')
}

function looks({ kind, namespace, pods, nodes }: Unworded): string[] {
  const [pod, node] = [pods[0], nodes[0]]
  if ((kind === 'node' || kind === 'misscheduled') && node) return [`kubectl describe node ${node}`]
  if (kind === 'crash' && pod) return [`kubectl -n ${namespace} logs ${pod} --previous`]
  if (pod) return [`kubectl -n ${namespace} describe pod ${pod}`]
  return kind === 'refused' ? [`kubectl -n ${namespace} get events --field-selector reason=FailedCreate`] : []
}

function firstLine(text: string | undefined): string | undefined {
  return text?.split('\n', 1)[0]?.trim().replace(/\.$/, '') || undefined
}
