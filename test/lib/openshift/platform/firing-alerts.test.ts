import { expect, test } from 'vitest'
import { askAlerts, firingAlerts } from '../../../../src/lib/openshift/firing-alerts.ts'
import { ApiError } from '../../../../src/lib/kube/errors.ts'

const alert = (name: string, state: string, labels: object = {}) => ({
  labels: { alertname: name, severity: 'warning', ...labels },
  state,
})
const answered = (text: string) => firingAlerts({ askService: async () => text })
const failed = (error: Error) =>
  firingAlerts({
    askService: async () => {
      throw error
    },
  })
const saying = (alerts: readonly unknown[]) => JSON.stringify({ status: 'success', data: { alerts } })

test('what fires, without what is pending and the heartbeat', async () => {
  const text = saying([
    alert('Watchdog', 'firing', { severity: 'none' }),
    alert('TargetDown', 'pending'),
    alert('KubeNodeNotReady', 'firing', { severity: 'critical', namespace: 'openshift-monitoring' }),
    alert('NoNamespace', 'firing'),
  ])
  expect(await answered(text)).toEqual({
    known: true,
    items: [
      { name: 'KubeNodeNotReady', severity: 'critical', namespace: 'openshift-monitoring' },
      { name: 'NoNamespace', severity: 'warning' },
    ],
  })
})

test.each([
  ['a guard without a token', new ApiError(401, '', 'Unauthorized'), 'answers 401: it needs a token'],
  ['a guard that knows nobody', new ApiError(403, '', 'Forbidden'), 'answers 403: it needs a token'],
  [
    'no right',
    new ApiError(403, 'Forbidden', 'jane may not get services/proxy'),
    'jane may not get services/proxy',
  ],
  ['no such Service', new ApiError(404, 'NotFound', 'x'), 'Service thanos-querier in namespace'],
  ['nobody behind it', new ApiError(503, 'ServiceUnavailable', 'no endpoints'), 'no endpoints'],
  ['no answer in time', new ApiError(0, '', 'no answer within 5 s'), 'no answer within 5 s'],
])('%s: unknown, why, and what to type', async (_, error, why) => {
  const alerts = await failed(error)
  expect(alerts).toMatchObject({ known: false, why: expect.stringContaining(why) })
  expect(alerts).toMatchObject({ why: expect.stringContaining(askAlerts) })
})

test.each(['<html>log in</html>', '{}', 'null', '{"data":{"alerts":7}}', '[]'])(
  'an answer that holds no alerts is not "none fires": %s',
  async (text) => {
    expect(await answered(text)).toMatchObject({ known: false })
  },
)

test('labels that are none do not end a command, and a long one is cut', async () => {
  const text = saying([
    { state: 'firing' },
    { state: 'firing', labels: { alertname: 7, namespace: [] } },
    null,
    alert('x'.repeat(500), 'firing'),
  ])
  const alerts = await answered(text)
  const names = alerts.known ? alerts.items.map(({ name }) => name) : []
  expect(names).toEqual(['', '', 'x'.repeat(80)])
})

test('a bug stays one', async () => {
  await expect(failed(new TypeError('oops'))).rejects.toThrow('oops')
})

test('a saved cluster cannot be asked', async () => {
  expect(await firingAlerts({})).toEqual({ known: false, why: 'a saved cluster does not contain alerts' })
})
