package telemetry

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics is one process's Prometheus registry. It registers what Declared names and nothing else.
type Metrics struct {
	Registry *prometheus.Registry
	requests *prometheus.HistogramVec
	problems *prometheus.CounterVec
	appends  *prometheus.HistogramVec
	events   *prometheus.CounterVec
	unsigned prometheus.Counter
	jobs     *prometheus.HistogramVec
	kernels  *prometheus.CounterVec
	spent    prometheus.Counter
	engines  *prometheus.CounterVec
}

// NewMetrics returns a registry with the Go runtime, the process and its build.
func NewMetrics(build string) *Metrics {
	m := &Metrics{Registry: prometheus.NewRegistry()}
	m.Registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.Gauge("reckon_build_info", map[string]string{"build": build}, func() float64 { return 1 })
	return m
}

// MeasureServer adds what is counted in every server of the service. Of all names of events, and of all results of appends, there is a
// series from the beginning: a counter that is born with the first incident has not increased (Prometheus, rate() and increase()).
func (m *Metrics) MeasureServer(events, results []string) {
	m.appends = m.histogram("reckon_append_seconds", []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30})
	m.events = m.counter("reckon_events_appended_total")
	m.unsigned = m.counter("reckon_receipts_unsigned_total").WithLabelValues()
	m.spent = m.counter("reckon_attempts_spent_total").WithLabelValues()
	for _, name := range events {
		m.events.WithLabelValues(name)
	}
	for _, result := range results {
		m.appends.WithLabelValues(result)
	}
}

// MeasureAPI adds what is counted of HTTP requests; of problems of these codes there is a series from the beginning.
func (m *Metrics) MeasureAPI(codes []string) {
	m.requests = m.histogram("reckon_http_request_seconds", []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30})
	m.problems = m.counter("reckon_http_problems_total")
	for _, code := range codes {
		m.problems.WithLabelValues(code)
	}
}

// MeasureRunner adds what is counted of jobs that this process runs; of these kinds and outcomes there is a series from the beginning.
func (m *Metrics) MeasureRunner(kinds, outcomes []string) {
	m.jobs = m.histogram("reckon_job_seconds", []float64{.01, .05, .1, .5, 1, 5, 10, 30, 60, 300, 900, 3600})
	m.kernels = m.counter("reckon_kernel_answers_total")
	for _, kernel := range KernelLabels { // from 0 on: an alert on the increase of a series sees no increase where the series begins
		for _, answer := range []string{"accepted", "refused", "out_of_budget", "undecided"} {
			m.kernels.WithLabelValues(kernel, answer)
		}
	}
	for _, kind := range kinds {
		for _, outcome := range outcomes {
			m.jobs.WithLabelValues(kind, outcome)
		}
	}
}

// KernelLabels are the values of the label kernel: the first, the second, and any program of the operator's.
var KernelLabels = []string{"reckon", "plain", "program"}

// MeasureEngines adds what is counted of the engines' processes; of each of these engines there is a series from the beginning.
func (m *Metrics) MeasureEngines(names []string) {
	m.engines = m.counter("reckon_engine_ended_total")
	for _, name := range names {
		m.engines.WithLabelValues(name)
	}
}

// CountEngineEnd counts a process of an engine that ended by itself.
func (m *Metrics) CountEngineEnd(name string) { m.engines.WithLabelValues(name).Inc() }

// CountKernelAnswer counts what a kernel says of an export; any name but the first two is the operator's program.
func (m *Metrics) CountKernelAnswer(kernel, answer string) {
	if !slices.Contains(KernelLabels, kernel) {
		kernel = KernelLabels[len(KernelLabels)-1]
	}
	m.kernels.WithLabelValues(kernel, answer).Inc()
}

// ObserveRequest is httpkit.Settings.Observe. Method and route have few values:
// what no route matched is counted as one.
func (m *Metrics) ObserveRequest(method, route string, status int, took time.Duration) {
	if route == "" {
		method, route = "", "none"
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Observe(took.Seconds())
}

// ObserveProblem is httpkit.Settings.ObserveProblem.
func (m *Metrics) ObserveProblem(code string) { m.problems.WithLabelValues(code).Inc() }

// ObserveAppend counts an append of events of these types; result is ok, or why it was refused.
func (m *Metrics) ObserveAppend(events []string, result string, took time.Duration) {
	m.appends.WithLabelValues(result).Observe(took.Seconds())
	if result != AppendOK {
		return
	}
	for _, name := range events {
		m.events.WithLabelValues(name).Inc()
	}
}

// AppendOK is the result of an append that was made.
const AppendOK = "ok"

// CountUnsignedReceipt counts a receipt without a signature.
func (m *Metrics) CountUnsignedReceipt() { m.unsigned.Inc() }

// CountSpentAttempt counts an attempt at a job that this process has appended to be spent.
func (m *Metrics) CountSpentAttempt() { m.spent.Inc() }

// ObserveJob counts an attempt at a job that has ended here.
func (m *Metrics) ObserveJob(kind, outcome string, took time.Duration) {
	m.jobs.WithLabelValues(kind, outcome).Observe(took.Seconds())
}

// declared is the declaration of a name; it panics for any other, because docs/metrics.md would not have it.
func declared(name string, kind Kind) Declaration {
	i := slices.IndexFunc(Declared, func(d Declaration) bool { return d.Name == name && d.Kind == kind })
	if i < 0 {
		panic(fmt.Sprintf("%s is not in telemetry.Declared as a %s", name, kind))
	}
	return Declared[i]
}

func (m *Metrics) counter(name string) *prometheus.CounterVec {
	d := declared(name, Counter)
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: d.Name, Help: d.Help}, d.Labels)
	m.Registry.MustRegister(c)
	return c
}

func (m *Metrics) histogram(name string, buckets []float64) *prometheus.HistogramVec {
	d := declared(name, Histogram)
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: d.Name, Help: d.Help, Buckets: buckets}, d.Labels)
	m.Registry.MustRegister(h)
	return h
}

// Gauge adds a figure that is read whenever the registry is, at no cost.
func (m *Metrics) Gauge(name string, labels map[string]string, read func() float64) {
	d := declared(name, Gauge)
	m.Registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: d.Name, Help: d.Help, ConstLabels: labels}, read))
}

// collectTimeout bounds the time in which figures are read for one scrape.
const collectTimeout = 2 * time.Second

// Add gives the value of a metric, with its labels in the order of the declaration.
type Add func(name string, value float64, labels ...string)

// Collect adds figures that are read from the log or a database whenever the registry is. When read returns an error its figures are left out of
// the scrape, which counts the failure itself: the registry gathers collectors at the same time, so another one could be a scrape late.
func (m *Metrics) Collect(figures string, names []string, read func(ctx context.Context, add Add) error) {
	failed := declared("reckon_collect_failed_total", Counter)
	c := &collector{read: read, descriptions: map[string]*prometheus.Desc{}, kinds: map[string]prometheus.ValueType{},
		failed: prometheus.NewDesc(failed.Name, failed.Help, nil, prometheus.Labels{failed.Labels[0]: figures})}
	for _, name := range names {
		i := slices.IndexFunc(Declared, func(d Declaration) bool { return d.Name == name })
		if i < 0 {
			panic(name + " is not in telemetry.Declared")
		}
		c.descriptions[name] = prometheus.NewDesc(name, Declared[i].Help, Declared[i].Labels, nil)
		c.kinds[name] = prometheus.GaugeValue
		if Declared[i].Kind == Counter {
			c.kinds[name] = prometheus.CounterValue
		}
	}
	m.Registry.MustRegister(c)
}

type collector struct {
	read         func(context.Context, Add) error
	descriptions map[string]*prometheus.Desc
	kinds        map[string]prometheus.ValueType
	failed       *prometheus.Desc
	failures     atomic.Uint64
}

// Describe is prometheus.Collector.
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	to <- c.failed
	for _, d := range c.descriptions {
		to <- d
	}
}

// Collect is prometheus.Collector.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), collectTimeout)
	defer cancel()
	var read []prometheus.Metric
	err := c.read(ctx, func(name string, value float64, labels ...string) {
		read = append(read, prometheus.MustNewConstMetric(c.descriptions[name], c.kinds[name], value, labels...))
	})
	if err != nil {
		c.failures.Add(1)
		read = nil
	}
	to <- prometheus.MustNewConstMetric(c.failed, prometheus.CounterValue, float64(c.failures.Load()))
	for _, metric := range read {
		to <- metric
	}
}

// Handler serves the registry in the Prometheus text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.Registry, promhttp.HandlerOpts{Registry: m.Registry, MaxRequestsInFlight: maxScrapes})
}

// maxScrapes bounds the scrapes at a time: each asks the log and the databases.
const maxScrapes = 4
