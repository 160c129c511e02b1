import type { Cause } from './cause.ts'
import { pullFailure } from './pull-failure.ts'
import { strategyComponent } from './stamps.ts'
import { type Subject, subjectOf } from './subject.ts'

type Worded = Pick<Cause, 'sentence' | 'look'>
type Unworded = Omit<Cause, keyof Worded>

/** One sentence a person can act on, and the commands that show more. */
export function troubleSentence(cause: Unworded): Worded {
  const sentence = words[cause.kind](cause, subjectOf(cause))
  return { sentence, look: looks(cause) }
}

const words: Record<Cause['kind'], (cause: Unworded, subject: Subject) => string> = {
  image: ({ image = 'its image', message, reason }, { who }) =>
    `${who} cannot pull ${image}: ${pullFailure(message ?? '') ?? reason}`,
  crash: ({ message, reason, lastLog }, { who, verb }) =>
    `${who} ${verb('keeps', 'keep')} failing (${reason}${message ? `, ${firstLine(message)}` : ''})${logged(message, lastLog)}`,
  container: ({ message, reason }, { who }) => `${who} cannot start: ${firstLine(message) ?? reason}`,
  unschedulable: ({ message, reason }, { who, verb }) =>
    `${who} ${verb('finds', 'find')} no node: ${firstLine(message) ?? reason}`,
  node: ({ nodes }, { who }) => `${who}: ${nodes.length > 1 ? 'these nodes are' : 'the node is'} NotReady`,
  terminating: (_, { who, verb }) => `${who} ${verb('does', 'do')} not go away (terminating)`,
  'not-ready': ({ message, reason }, { who, verb }) =>
    `${who} ${verb('is', 'are')} not ready: ${firstLine(message) ?? reason}`,
  refused: ({ component, message }) =>
    `pods of ${component === strategyComponent ? `the ${component}` : component} cannot be created: ${message ?? 'refused'}`,
  quiet: ({ message, lastLog }) =>
    `nothing changes any more: ${message ?? 'no reason was found'}${lastLog ? `; virt-operator logs "${lastLog}"` : ''}`,
  failed: ({ message }) => `virt-operator cannot go on: ${message ?? 'DeploymentFailed'}`,
  webhook: ({ message }) => `virt-operator cannot go on: ${message ?? 'a webhook refuses'}`,
  forbidden: ({ message }) => `virt-operator ${message ?? 'is forbidden to go on'}`,
  'stored-versions': ({ message }) =>
    `the API server refuses a new CRD: ${message ?? 'a stored version is missing in it'}, which the new version drops`,
  lease: ({ component, message }) =>
    `${component} is gone or hangs: ${message ?? 'it does not renew its Lease'}`,
  vms: ({ reason, message }) => `VMs do not run: ${message ?? reason}`,
  api: ({ message }) => `nobody answers for an API of KubeVirt: ${message ?? 'it is unavailable'}`,
  'webhook-silent': ({ message }) =>
    `nobody answers for a webhook of KubeVirt: ${message ?? 'its Service has no ready endpoint'}`,
  canary: ({ message }) => `virt-operator stopped the roll: ${message ?? 'the canary failed'}`,
  misscheduled: ({ message }, { who, verb }) =>
    `${who} ${verb('is', 'are')} where ${verb('its', 'their')} DaemonSet does not want ${verb('it', 'them')}: ${message ?? 'a taint'}`,
}

/** What the log adds to what the container's end said already. */
function logged(message = '', lastLog: string | undefined): string {
  return lastLog === undefined || message.includes(lastLog) ? '' : `, last log line: "${lastLog}"`
}

function looks({ kind, namespace, pods, nodes }: Unworded): string[] {
  const [pod, node] = [pods[0], nodes[0]]
  if ((kind === 'node' || kind === 'misscheduled') && node) return [`kubectl describe node ${node}`]
  if (pod) return [`kubectl -n ${namespace} describe pod ${pod}`]
  return kind === 'refused' ? [`kubectl -n ${namespace} get events --field-selector reason=FailedCreate`] : []
}

function firstLine(text: string | undefined): string | undefined {
  return text?.split('\n', 1)[0]?.trim().replace(/\.$/, '') || undefined
}
