import { describe, expect, test } from 'vitest'
import { ago, clusterOperators, clusterVersion, dump, list, type Told, told } from './dumps.ts'

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
