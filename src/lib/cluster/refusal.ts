/** What the API server's refusal of a write comes down to. */
export interface Refusal {
  is: 'quota' | 'webhook-down' | 'webhook-refuses'
  /** A sentence without its subject's verb: `the webhook X does not answer, …`. */
  message: string
  /** Commands that show it. */
  look: readonly string[]
}

/**
 * Reads the server's own words: a ResourceQuota that is used up, a webhook with failurePolicy Fail that nobody answers, one that says
 * no. `namespace` is where the object is. Undefined for any other refusal.
 */
export function readRefusal(text: string, namespace: string): Refusal | undefined {
  return usedUpQuota(text, namespace) ?? silentWebhook(text, namespace) ?? refusingWebhook(text)
}

function usedUpQuota(text: string, namespace: string): Refusal | undefined {
  const found = /exceeded quota: ([^,\s]+)(?:, (requested: .*))?$/s.exec(text)
  if (!found) return undefined
  const [, quota = '', numbers] = found
  return {
    is: 'quota',
    message: `the ResourceQuota ${quota} is used up${numbers ? ` (${numbers})` : ''}`,
    look: [`kubectl -n ${namespace} describe resourcequota ${quota}`],
  }
}

const configurations = 'kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations'

function silentWebhook(text: string, namespace: string): Refusal | undefined {
  const webhook = /failed calling webhook "([^"]+)"/.exec(text)?.[1]
  if (webhook === undefined) return undefined
  const [, service, home = namespace] = /https:\/\/([^./:]+)\.([^./:]+)\.svc\b/.exec(text) ?? []
  const behind = service === undefined ? '' : `, service ${service} in namespace ${home}`
  const why = /: ([^:"]+)$/.exec(text.trim())?.[1]
  return {
    is: 'webhook-down',
    message: `the webhook ${webhook} does not answer${behind}${why ? ` (${why.trim()})` : ''}`,
    look: [
      service === undefined
        ? configurations
        : `kubectl -n ${home} get endpointslices -l kubernetes.io/service-name=${service}`,
    ],
  }
}

function refusingWebhook(text: string): Refusal | undefined {
  const found = /admission webhook "([^"]+)" denied the request: (.*)/s.exec(text)
  if (!found) return undefined
  return {
    is: 'webhook-refuses',
    message: `the webhook ${found[1]} refuses it: ${found[2]}`,
    look: [configurations],
  }
}
