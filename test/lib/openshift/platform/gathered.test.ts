import { describe, expect, test } from 'vitest'
import {
  ago,
  clusterOperators,
  clusterVersion,
  dump,
  layerIn,
  list,
  node,
  pool,
  type Told,
  told,
} from './dumps.ts'

/** What other programs gather: a must-gather with the rules of its Prometheus, and an Insights archive, whose objects do not say what they are. */
const history = [
  { version: '4.14.1', started: ago('20d') },
  { version: '4.13.6', started: ago('80d') },
]
const cv = clusterVersion({ history })
const co = clusterOperators({ version: '4.14.1' })

const alertsOf = (document: Told) => (document['platform'] as { alerts?: object[] }).alerts

const firing = (alertname: string, state = 'firing') => ({
  labels: { alertname, severity: 'critical', namespace: 'openshift-etcd' },
  annotations: {},
  state,
  activeAt: ago('20m'),
  value: '1e+00',
})

const rule = (...alerts: object[]) => ({ name: 'x', type: 'alerting', state: 'firing', alerts })

const gathered = (groups: object[]) =>
  dump({
    'must-gather/cluster-scoped-resources/config.openshift.io/clusterversions/version.yaml':
      JSON.stringify(cv),
    'must-gather/cluster-scoped-resources/config.openshift.io/clusteroperators.yaml': list(...co),
    'must-gather/monitoring/prometheus/rules.json': JSON.stringify({
      status: 'success',
      data: { groups },
    }),
  })

describe('alerts of a must-gather are in the rules of its Prometheus', () => {
  const recording = { name: 'record', type: 'recording', query: 'up' }
  test('those that fire, by name; pending ones are none', async () => {
    const { document, text } = await told(
      gathered([
        { name: 'etcd', rules: [recording, rule(firing('etcdNoLeader'))] },
        { name: 'other', rules: [rule(firing('Slow', 'pending')), rule()] },
      ]),
    )
    expect(alertsOf(document)).toEqual([
      { name: 'etcdNoLeader', severity: 'critical', namespace: 'openshift-etcd' },
    ])
    expect(text).toContain('critical alerts fire: etcdNoLeader')
    expect(document['saved']).not.toHaveProperty('passedOver')
  })

  test('rules of which none fires: none', async () => {
    expect(alertsOf((await told(gathered([{ name: 'etcd', rules: [rule()] }]))).document)).toEqual([])
  })

  test('rules that only record tell nothing of alerts: not known', async () => {
    const { document } = await told(gathered([{ name: 'etcd', rules: [recording] }]))
    expect(alertsOf(document)).toBeUndefined()
    expect(document['saved']).toHaveProperty('passedOver')
  })
})

const bare = (object: object) => {
  const { apiVersion: _version, kind: _kind, ...rest } = object as { apiVersion: string; kind: string }
  return JSON.stringify(rest)
}

const alert = (state: string) => ({
  labels: { alertname: 'etcdNoLeader', severity: 'critical' },
  annotations: {},
  startsAt: ago('20m'),
  status: { inhibitedBy: [], silencedBy: [], state },
})

const archive = (more: Readonly<Record<string, string>> = {}) =>
  dump({
    'config/version.json': bare(cv),
    ...Object.fromEntries(co.map((one) => [`config/clusteroperator/${one.metadata.name}.json`, bare(one)])),
    'config/machineconfigpools/worker.json': JSON.stringify(pool('worker')),
    'config/node/worker-0.json': bare(node('worker-0', 'worker')),
    'config/pod/openshift-etcd/etcd-0.json': bare({ metadata: { name: 'etcd-0' }, spec: {} }),
    'config/id.json': '"2f9f8f2a"',
    'insights-operator/gathers.json': bare({ metadata: { name: 'version' }, status: {} }),
    ...more,
  })

describe('an Insights archive', () => {
  test('its objects are known by their place', async () => {
    const { document } = await told(archive({ 'config/alerts.json': JSON.stringify([alert('active')]) }))
    expect(layerIn(document, 'platform')).toMatchObject({ verdict: 'Healthy', says: 'OpenShift 4.14.1' })
    expect(layerIn(document, 'pool worker')?.verdict).toBe('Healthy')
    expect(layerIn(document, 'operators')).toBeUndefined()
    expect(alertsOf(document)).toEqual([{ name: 'etcdNoLeader', severity: 'critical' }])
    const { passedOver } = document['saved'] as { passedOver: { file: string }[] }
    expect(passedOver.map(({ file }) => file).toSorted()).toEqual([
      'config/id.json',
      'config/pod/openshift-etcd/etcd-0.json',
      'insights-operator/gathers.json',
    ])
  })

  test('silenced alerts alone do not say that none fires', async () => {
    const silenced = { 'config/silenced_alerts.json': JSON.stringify([alert('suppressed')]) }
    expect(alertsOf((await told(archive(silenced))).document)).toBeUndefined()
  })
})
