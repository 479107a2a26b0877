package telemetry

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics is one process's Prometheus registry with what every process measures.
type Metrics struct {
	Registry *prometheus.Registry
	requests *prometheus.HistogramVec
}

// NewMetrics returns a registry with the Go runtime, the process and HTTP requests.
func NewMetrics(build string) *Metrics {
	m := &Metrics{
		Registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "reckon_http_request_seconds", Help: "Time to answer an HTTP request, by route template.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"method", "route", "status"}),
	}
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "reckon_build_info", Help: "Always 1; the build is the label.", ConstLabels: prometheus.Labels{"build": build},
	})
	info.Set(1)
	m.Registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), m.requests, info)
	return m
}

// ObserveRequest is httpkit.Settings.Observe. Method and route have few values:
// what no route matched is counted as one.
func (m *Metrics) ObserveRequest(method, route string, status int, took time.Duration) {
	if route == "" {
		method, route = "", "none"
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Observe(took.Seconds())
}

// Gauge adds a figure that is read whenever the registry is.
func (m *Metrics) Gauge(name, help string, labels map[string]string, read func() float64) {
	m.Registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels}, read))
}

// Handler serves the registry in the Prometheus text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.Registry, promhttp.HandlerOpts{Registry: m.Registry})
}
