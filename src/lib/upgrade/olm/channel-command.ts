import type { OlmPart } from './olm-part.ts'

/** What sets the channel of a Subscription, as a person types it. */
export function channelCommand({ namespace, name }: OlmPart['subscription'], channel: string): string {
  const patch = JSON.stringify({ spec: { channel } })
  return `kubectl -n ${namespace} patch subscription.operators.coreos.com ${name} --type merge -p '${patch}'`
}
