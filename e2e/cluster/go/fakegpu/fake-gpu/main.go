// A device plugin that offers GPUs which do not exist: the scheduler and the kubelet treat them like real ones, and a
// container that gets one sees only an environment variable. It registers again whenever the kubelet restarts.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

const (
	socketName = "orthrus-fake-gpu.sock"
	// A kubelet that starts with GPU pods assigned fails them unless the plug-in is there before it looks at them.
	pollEvery = 10 * time.Millisecond
)

type plugin struct {
	api.UnimplementedDevicePluginServer
	devices []*api.Device
}

func (p *plugin) GetDevicePluginOptions(context.Context, *api.Empty) (*api.DevicePluginOptions, error) {
	return &api.DevicePluginOptions{}, nil
}

func (p *plugin) ListAndWatch(_ *api.Empty, stream api.DevicePlugin_ListAndWatchServer) error {
	if err := stream.Send(&api.ListAndWatchResponse{Devices: p.devices}); err != nil {
		return err
	}
	<-stream.Context().Done()
	return nil
}

func (p *plugin) Allocate(_ context.Context, request *api.AllocateRequest) (*api.AllocateResponse, error) {
	response := &api.AllocateResponse{}
	for _, container := range request.ContainerRequests {
		ids := strings.Join(container.DevicesIds, ",")
		response.ContainerResponses = append(response.ContainerResponses,
			&api.ContainerAllocateResponse{Envs: map[string]string{"ORTHRUS_FAKE_GPUS": ids}})
	}
	return response, nil
}

func register(resource string) error {
	connection, err := grpc.NewClient("unix://"+api.KubeletSocket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, err = api.NewRegistrationClient(connection).Register(ctx, &api.RegisterRequest{
		Version: api.Version, Endpoint: socketName, ResourceName: resource,
	})
	return err
}

// serve listens on a fresh socket: the kubelet removes every plug-in's socket when it starts.
func (p *plugin) serve() (*grpc.Server, error) {
	path := filepath.Join(api.DevicePluginPath, socketName)
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	server := grpc.NewServer()
	api.RegisterDevicePluginServer(server, p)
	go server.Serve(listener)
	return server, nil
}

// kubeletSocket identifies one life of the kubelet by its socket's inode and change time; empty while there is none.
func kubeletSocket() string {
	var stat syscall.Stat_t
	if err := syscall.Stat(api.KubeletSocket, &stat); err != nil {
		return ""
	}
	return fmt.Sprint(stat.Ino, stat.Ctim)
}

func main() {
	resource := flag.String("resource", "nvidia.com/gpu", "extended resource to offer")
	count := flag.Int("count", 4, "number of fake devices")
	flag.Parse()
	p := &plugin{}
	for i := range *count {
		p.devices = append(p.devices, &api.Device{ID: fmt.Sprintf("fake-gpu-%d", i), Health: api.Healthy})
	}
	var server *grpc.Server
	registered := ""
	for ; ; time.Sleep(pollEvery) {
		current := kubeletSocket()
		if current == "" || current == registered {
			continue
		}
		if server != nil {
			server.Stop()
		}
		var err error
		if server, err = p.serve(); err == nil {
			err = register(*resource)
		}
		if err != nil {
			log.Printf("cannot register yet: %v", err)
			continue
		}
		registered = current
		log.Printf("registered %d fake %s", *count, *resource)
	}
}
